import Errand
import ErrandEssentials

/// The positions of the entries of an archive, with method and URL; the rest is read on demand.
struct HARIndex: Sendable {
    struct Item: Sendable {
        /// The number of the entry in the file, from 0.
        let number: Int
        let range: Range<Int>
        let method: String
        let url: String
        let status: Int
    }

    let source: HARSource
    /// The entries over HTTP.
    let items: [Item]
    /// The number of all entries.
    let count: Int
    /// The ranges of all entries in the file, of any kind.
    let ranges: [Range<Int>]

    /// An archive without entries.
    init() { (source, items, count, ranges) = (HARSource(Data()), [], 0, []) }

    /// Reads the file once, in a window of 64 KiB.
    ///
    /// - Parameter memoryLimit: the approximate number of bytes that the index may take.
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
                if lists > 1 { throw reader.fault(.notHAR, "the list of entries stands twice") }
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
        if try reader.space() != nil { throw reader.fault(.malformedJSON, "something follows the end") }
        (self.source, self.items, self.ranges, count) = (source, items, ranges, ranges.count)
    }

    /// The whole entry, read again.
    func entry(_ item: Item) throws(HARError) -> HAREntry {
        var reader = JSONReader(source, item.range)
        do throws(HARError) { return try HAREntry(&reader) } catch { throw error.within("log.entries[\(item.number)]") }
    }
}
