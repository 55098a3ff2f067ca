import Errand
import ErrandEssentials
import ErrandSupport

/// The index of an archive: the positions of its entries. The entries themselves are read on demand.
struct HARIndex: Sendable {
    struct Item: Sendable {
        let number: Int
        let range: Range<Int>
        let method: String
        let url: String
        let status: Int
    }

    let source: HARSource
    let items: [Item]
    let count: Int
    let ranges: [Range<Int>]

    init() { (source, items, count, ranges) = (HARSource(Data()), [], 0, []) }

    /// - Parameter memoryLimit: The approximate maximum size of the index in bytes.
    init(_ source: HARSource, memoryLimit: Int) throws(HARError) {
        var reader = JSONReader(source)
        var items: [Item] = []
        var ranges: [Range<Int>] = []
        var (memory, logs, lists) = (0, 0, 0)
        try reader.skipByteOrderMark()
        try reader.object { (reader, name) throws(HARError) in
            guard name == "log" else { return try reader.skipValue() }
            logs += 1
            try reader.object { (reader, name) throws(HARError) in
                guard name == "entries" else { return try reader.skipValue() }
                lists += 1
                if lists > 1 { throw reader.fault(.notHAR, "the list of entries appears twice") }
                try reader.array { (reader, number) throws(HARError) in
                    _ = try reader.space()
                    let start = reader.offset
                    let entry = try HAREntry(&reader)
                    let range = start..<reader.offset
                    ranges.append(range)
                    memory += 16
                    if entry.isHTTP {
                        memory += 240 + 2 * entry.url.utf8.count
                        items.append(
                            Item(
                                number: number, range: range, method: entry.method, url: entry.url,
                                status: entry.status))
                    }
                    if memory > memoryLimit {
                        throw reader.fault(.tooLarge, "an index of more than \(memoryLimit) bytes")
                    }
                }
            }
        }
        guard logs == 1, lists == 1 else {
            throw HARError(.notHAR, "the list log.entries is missing", byte: reader.offset)
        }
        if try reader.space() != nil { throw reader.fault(.malformedJSON, "there's data after the end") }
        (self.source, self.items, self.ranges, count) = (source, items, ranges, ranges.count)
    }

    func entry(_ item: Item) throws(HARError) -> HAREntry {
        var reader = JSONReader(source, item.range)
        do throws(HARError) { return try HAREntry(&reader) } catch { throw error.within("log.entries[\(item.number)]") }
    }
}

final class HARSource: Sendable {
    private enum Storage: ~Copyable, Sendable {
        case data(Data)
        case file(SystemFile)
    }

    /// The size in bytes up to which a file is read into memory. Without this, many small archives would keep their
    /// files open.
    static let memoryLimit = 4 << 20

    private let storage: Storage
    let byteCount: Int

    init(_ data: Data) {
        storage = .data(data)
        byteCount = data.count
    }

    convenience init(contentsOf url: URL) throws(HARError) {
        guard url.isFileURL else { throw HARError(.fileFailed, "the URL isn't a file URL") }
        do throws(SystemFile.Failure) {
            let size = Int(try SystemFile.size(of: url.path))
            let file = try SystemFile(url.path, [.read, .onlyRegular])
            if size > Self.memoryLimit {
                self.init(file, size)
            } else {
                self.init(try file.read(size, at: 0))
            }
        } catch { throw HARError(.fileFailed, error.description) }
    }

    private init(_ file: consuming SystemFile, _ size: Int) {
        storage = .file(file)
        byteCount = size
    }

    func read(_ count: Int, at offset: Int) throws(HARError) -> [UInt8] {
        let end = min(offset + max(0, count), byteCount)
        guard offset >= 0, offset < end else { return [] }
        switch storage {
        case .data(let data): return Array(data[data.startIndex + offset..<data.startIndex + end])
        case .file(let file):
            do throws(SystemFile.Failure) { return Array(try file.read(end - offset, at: Int64(offset))) } catch {
                throw HARError(.fileFailed, error.description, byte: offset)
            }
        }
    }
}
