import Errand
import ErrandEssentials
import ErrandSupport
import Synchronization

/// A long body, read and checked in chunks. Its file stays open even if it's replaced.
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
            throw CacheStoreError("a stored body is damaged")
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
