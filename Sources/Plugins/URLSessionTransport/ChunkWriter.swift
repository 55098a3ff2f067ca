import Foundation
import Synchronization

/// Writes chunks to a stream with limited room. If the stream is full, the remaining bytes wait for its next event
/// without blocking a thread.
final class ChunkWriter: Sendable {
    enum Acceptance: Sendable {
        case took(Int)
        case isFull
        case isClosed
    }

    private struct State: Sendable {
        var rest = Data()
        var waiter: CheckedContinuation<Bool, Never>?
        var isClosed = false
    }

    private let queue: DispatchQueue
    private let offer: @Sendable (Data) -> Acceptance
    private let state = Mutex(State())

    /// Creates a writer. `queue` must be serial, and only closures on this queue may use the stream.
    init(on queue: DispatchQueue, offer: @escaping @Sendable (Data) -> Acceptance) {
        (self.queue, self.offer) = (queue, offer)
    }

    /// Writes one chunk at a time. Returns `false` if the stream closes before the whole chunk is written.
    func write(_ chunk: Data) async -> Bool {
        if chunk.isEmpty { return !state.withLock(\.isClosed) }
        return await withCheckedContinuation { continuation in
            let isClosed = state.withLock { state in
                if !state.isClosed { (state.rest, state.waiter) = (chunk, continuation) }
                return state.isClosed
            }
            if isClosed { return continuation.resume(returning: false) }
            queue.async { self.roomIsThere() }
        }
    }

    /// Writes remaining bytes. Call this on the queue when the stream may have room.
    func roomIsThere() {
        while let rest = state.withLock({ $0.waiter == nil ? nil : $0.rest }) {
            switch offer(rest) {
            case .took(let count) where count >= rest.count: return finish(true)
            case .took(let count): state.withLock { $0.rest = Data(rest.dropFirst(count)) }
            case .isFull: return
            case .isClosed: return close()
            }
        }
    }

    func close() {
        state.withLock { $0.isClosed = true }
        finish(false)
    }

    private func finish(_ isWritten: Bool) {
        let waiter = state.withLock { state in
            defer { (state.rest, state.waiter) = (Data(), nil) }
            return state.waiter
        }
        waiter?.resume(returning: isWritten)
    }
}
