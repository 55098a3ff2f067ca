import Errand
import Synchronization

import ErrandEssentials

/// Decodes and checks the chunks of a body.
enum DiskChunks {
    /// The body of a file in memory; nil if it is damaged.
    static func whole(_ bytes: Data, _ format: DiskFormat, open: ((Data) throws -> Data)?) -> Data? {
        var body = Data()
        var rest = bytes
        var number: UInt64 = 0
        while !rest.isEmpty {
            guard let payload = payload(rest, number, format) else { return nil }
            guard let plain = try? open.map({ try $0(Data(payload)) }) ?? payload else { return nil }
            rest = rest.dropFirst(payload.count + 12)
            number += 1
            if body.isEmpty && rest.isEmpty { body = Data(plain) } else { body.append(plain) }
        }
        return Int64(body.count) == format.bodyLength ? body : nil
    }

    /// The bytes of the first chunk; nil if its checksum does not match.
    static func payload(_ bytes: Data, _ number: UInt64, _ format: DiskFormat) -> Data? {
        guard bytes.count >= 12 else { return nil }
        let length = Int(DiskFormat.number(bytes.prefix(4)))
        guard length > 0, length <= bytes.count - 12 else { return nil }
        let payload = bytes.dropFirst(4).prefix(length)
        let sum = DiskFormat.number(bytes.dropFirst(4 + length).prefix(8))
        return Checksum.of(payload, seed: format.seed &+ 1 &+ number) == sum ? payload : nil
    }
}

/// A long body, read and checked chunk by chunk from a file that stays open even if it is replaced.
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
        guard let length = try state.file.read(4, at: state.offset).map({ Int(DiskFormat.number($0)) }),
            Int64(length) <= format.fileLength - state.offset - 12,
            let bytes = try state.file.read(length + 12, at: state.offset),
            let payload = DiskChunks.payload(bytes, state.number, format)
        else { throw CacheStoreError("a chunk is damaged") }
        let plain = try open.map { try $0(Data(payload)) } ?? Data(payload)
        guard Int64(plain.count) <= state.left, !plain.isEmpty else { throw CacheStoreError("a chunk is too long") }
        state.offset += Int64(bytes.count)
        state.number += 1
        state.left -= Int64(plain.count)
        return plain
    }

    func cancel() {}
}
