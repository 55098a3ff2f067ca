import Foundation
import Synchronization

/// Passes chunks to a stream that accepts bytes only while it has room. Bytes that do not fit wait for the stream's
/// next event, and no thread waits with them.
final class ChunkWriter: Sendable {
    /// The stream's response to an offer of bytes.
    enum Acceptance: Sendable {
        /// It accepted this many of them, at least one.
        case took(Int)
        /// It has no room before its next event.
        case isFull
        /// It accepts nothing more.
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

    /// - Parameters:
    ///   - queue: serial; the stream is used on it alone.
    ///   - offer: writes to the stream without waiting.
    init(on queue: DispatchQueue, offer: @escaping @Sendable (Data) -> Acceptance) {
        (self.queue, self.offer) = (queue, offer)
    }

    /// Returns once the stream has accepted the whole chunk; false if it was closed before. One chunk at a time.
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

    /// Offers the waiting bytes; on the queue, whenever the stream may have room.
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

    /// The stream accepts nothing more: a chunk that waits, and each later one, is rejected.
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
