import Errand
import ErrandEssentials
import Synchronization

/// The chunks of a stubbed stream, each made when it is pulled.
final class StubBody: HTTPBodySource {
    private let chunks: [Data]
    private let interval: Duration
    private let failure: (any Error)?
    private let wait: @Sendable (Duration) async throws -> Void
    private let position = Mutex(0)

    init(
        _ chunks: [Data], _ interval: Duration, _ failure: (any Error)?,
        wait: @escaping @Sendable (Duration) async throws -> Void
    ) {
        (self.chunks, self.interval, self.failure, self.wait) = (chunks, interval, failure, wait)
    }

    func nextChunk() async throws -> Data? {
        try Task.checkCancellation()
        let index = position.withLock { position in
            defer { position += 1 }
            return position
        }
        if index > 0, interval > .zero, index < chunks.count { try await wait(interval) }
        if index < chunks.count { return chunks[index] }
        if let failure { throw failure }
        return nil
    }

    func cancel() {}
}

/// A stubbed stream that a test writes.
final class StubStream: HTTPBodySource {
    private let next: @Sendable () async throws -> Data?
    private let onCancel: @Sendable () -> Void

    init(next: @escaping @Sendable () async throws -> Data?, onCancel: @escaping @Sendable () -> Void) {
        (self.next, self.onCancel) = (next, onCancel)
    }

    func nextChunk() async throws -> Data? {
        try Task.checkCancellation()
        return try await next()
    }

    func cancel() { onCancel() }
}
