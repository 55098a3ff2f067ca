import Errand
import ErrandEssentials
import Synchronization

/// The bytes of a body, compressed as they are pulled.
final class CompressedSource: HTTPBodySource {
    private struct State: ~Copyable {
        var compressor: StreamCompressor?
        var rest = Data()
        var isEnded = false
    }

    /// The number of bytes that are compressed at a time, so that a body in memory is not doubled.
    private static let pieceBytes = 256 << 10
    private let compression: ContentCompression
    private let open: @Sendable () throws -> HTTPBody
    private let chunks = Mutex<BodyChunks?>(nil)
    private let state = Mutex(State())

    init(_ compression: ContentCompression, open: @escaping @Sendable () throws -> HTTPBody) {
        (self.compression, self.open) = (compression, open)
    }

    func nextChunk() async throws -> Data? {
        let chunks = try opened()
        while true {
            if let piece = try compressRest(), !piece.isEmpty { return piece }
            if state.withLock({ $0.isEnded }) { return nil }
            let chunk = try await chunks.next()
            state.withLock { state in
                state.rest = chunk ?? Data()
                state.isEnded = chunk == nil
            }
            if chunk == nil { return try compress(Data(), isLast: true) }
        }
    }

    func cancel() { chunks.withLock { $0 }?.cancel() }

    private func opened() throws -> BodyChunks {
        if let chunks = chunks.withLock({ $0 }) { return chunks }
        let new = BodyChunks(try open())
        chunks.withLock { $0 = new }
        return new
    }

    private func compressRest() throws -> Data? {
        let piece = state.withLock { state in
            let piece = state.rest.prefix(Self.pieceBytes)
            state.rest = state.rest.dropFirst(piece.count)
            return piece
        }
        return piece.isEmpty ? nil : try compress(piece, isLast: false)
    }

    private func compress(_ data: Data, isLast: Bool) throws -> Data {
        try state.withLock { state in
            if state.compressor == nil { state.compressor = try StreamCompressor(compression) }
            return try state.compressor?.compress(data, isLast: isLast) ?? Data()
        }
    }
}
