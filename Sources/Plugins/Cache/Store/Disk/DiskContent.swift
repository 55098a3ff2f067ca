import Errand
import ErrandEssentials
import ErrandSupport
import Synchronization

/// A small entry's file, read at once. The body can take over the memory without copying.
struct DiskContent: ~Copyable {
    private let memory: FileMemory

    private enum Body {
        case copied(Data)
        case inPlace(Range<Int>)
    }

    init?(_ file: borrowing DiskFile, length: Int) throws(DiskFile.Failure) {
        guard let memory = try FileMemory(file, count: length) else { return nil }
        self.memory = memory
    }

    /// The smallest length of a body that takes over the memory. For shorter bodies, copying costs less than keeping
    /// the head in memory.
    private static let ownedLength = 4096

    /// Returns nil if any part of the file is damaged. `open` decrypts a part.
    consuming func entry(digest: [UInt8], open: ((Data) throws -> Data)?) -> CacheEntry? {
        guard let (head, body) = memory.withSpan({ Self.content($0, digest: digest, open: open) }) else { return nil }
        return switch body {
        case .copied(let data): CacheEntry(head: head, body: HTTPBody(data))
        case .inPlace(let range): CacheEntry(head: head, body: HTTPBody(memory.data(range)))
        }
    }

    private static func content(
        _ bytes: Span<UInt8>, digest: [UInt8], open: ((Data) throws -> Data)?
    ) -> (CacheEntryHead, Body)? {
        guard let format = DiskFormat(bytes, digest: digest, fileLength: Int64(bytes.count)),
            let head = head(bytes.extracting(DiskFormat.prefixLength..<format.bodyStart), format: format, open: open)
        else { return nil }
        if open == nil, format.bodyLength >= ownedLength,
            let range = format.payload(bytes, at: format.bodyStart, number: 0), range.upperBound + 8 == bytes.count
        {
            return Int64(range.count) == format.bodyLength ? (head, .inPlace(range)) : nil
        }
        return copiedBody(bytes, format: format, open: open).map { (head, .copied($0)) }
    }

    private static func head(
        _ slots: Span<UInt8>, format: DiskFormat, open: ((Data) throws -> Data)?
    ) -> CacheEntryHead? {
        guard let found = format.head(in: slots) else { return nil }
        let bytes = slots.extracting(found.range)
        guard let open else { return CacheEntryHead(encoded: [UInt8](copying: bytes)) }
        return (try? open(Data(copying: bytes))).flatMap { CacheEntryHead(encoded: $0) }
    }

    private static func copiedBody(
        _ bytes: Span<UInt8>, format: DiskFormat, open: ((Data) throws -> Data)?
    ) -> Data? {
        var body = Data()
        body.reserveCapacity(Int(format.bodyLength))
        var (offset, number) = (format.bodyStart, UInt64(0))
        while offset < bytes.count {
            guard let range = format.payload(bytes, at: offset, number: number) else { return nil }
            let part = bytes.extracting(range)
            if let open {
                guard let plain = try? open(Data(copying: part)) else { return nil }
                body.append(plain)
            } else {
                body.append(contentsOf: part)
            }
            (offset, number) = (range.upperBound + 8, number + 1)
        }
        return Int64(body.count) == format.bodyLength ? body : nil
    }
}

/// A long body, read and checked in chunks. The body's file stays open even if another file replaces it.
final class DiskBodySource: HTTPBodySource {
    private struct State: ~Copyable {
        let file: DiskFile
        var offset: Int64
        var number: UInt64 = 0
        var left: Int64
    }

    private let state: Mutex<State>
    private let format: DiskFormat
    private let open: (@Sendable (Data) throws -> Data)?
    private let onDamage: @Sendable () -> Void

    init(
        _ file: consuming DiskFile, _ format: DiskFormat, offset: Int64, open: (@Sendable (Data) throws -> Data)?,
        onDamage: @escaping @Sendable () -> Void
    ) {
        self.format = format
        self.open = open
        self.onDamage = onDamage
        state = Mutex(State(file: file, offset: offset, left: format.bodyLength))
    }

    @concurrent func nextChunk() async throws -> Data? {
        try Task.checkCancellation()
        do {
            return try state.withLock { state in try read(&state) }
        } catch {
            onDamage()
            throw CacheStoreError("the stored body is damaged, so its entry was removed")
        }
    }

    private func read(_ state: inout State) throws -> Data? {
        if state.left == 0 { return nil }
        let head = try state.file.read(4, at: state.offset)
        guard let length = head.map({ Int($0.span.littleEndian(at: 0, as: UInt32.self)) }),
            Int64(length) <= format.fileLength - state.offset - 12,
            let bytes = try state.file.read(length + 12, at: state.offset),
            let range = format.payload(bytes.span, at: 0, number: state.number)
        else { throw CacheStoreError("a chunk is damaged") }
        let payload = Data(copying: bytes.span.extracting(range))
        let plain = try open.map { try $0(payload) } ?? payload
        guard Int64(plain.count) <= state.left, !plain.isEmpty else { throw CacheStoreError("a chunk is too long") }
        state.offset += Int64(bytes.count)
        state.number += 1
        state.left -= Int64(plain.count)
        return plain
    }

    func cancel() {}
}
