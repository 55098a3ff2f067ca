import ErrandCollections
import ErrandSupport
import Synchronization

/// A queue of the tasks that want to add a message to a connection. Each task adds its message in turn, in the order of
/// the calls.
final class SendingLine: Sendable {
    private struct State {
        var isTaken = false
        var waiting = WaitingQueue<CheckedContinuation<Void, any Error>>()
    }

    private let state = Mutex(State())

    var isTaken: Bool { state.withLock { $0.isTaken } }
    var waitingCount: Int { state.withLock { $0.waiting.count } }

    /// Waits until it's the caller's turn. The caller ends its turn with ``leave()``. Throws ``WaitingLine/Full`` or
    /// `CancellationError`.
    ///
    /// - Parameter maximum: Returns the maximum number of messages in the queue, including the message whose turn it
    ///   is. Called without a lock.
    func enter(upTo maximum: () -> Int) async throws {
        let maximum = maximum()
        let number = state.withLock { state -> UInt64? in
            if state.isTaken { return state.waiting.nextNumber() }
            state.isTaken = true
            return nil
        }
        guard let number else { return }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let result = state.withLock { state -> Result<Void, any Error>? in
                    if !state.isTaken {
                        state.isTaken = true
                        return .success(())
                    }
                    if state.waiting.count + 1 >= maximum { return .failure(WaitingLine.Full()) }
                    state.waiting.append(continuation, number)
                    return nil
                }
                if let result { return continuation.resume(with: result) }
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    func leave() {
        let next = state.withLock { state in
            let next = state.waiting.popFirst()
            state.isTaken = next != nil
            return next
        }
        next?.resume()
    }

    /// Refuses the last waiting messages if more than `maximum` are in the queue. Called when the connection is lost,
    /// because fewer messages may wait then.
    func limit(to maximum: Int) {
        let refused = state.withLock { state in
            guard state.isTaken, state.waiting.count + 1 > maximum else {
                return [] as [CheckedContinuation<Void, any Error>]
            }
            return state.waiting.removeLast(upTo: max(maximum - 1, 0))
        }
        for continuation in refused { continuation.resume(throwing: WaitingLine.Full()) }
    }

    private func cancel(_ number: UInt64) {
        state.withLock { $0.waiting.remove(number) }?.resume(throwing: CancellationError())
    }
}

/// Tasks that wait for a condition. After each change, every task checks its condition again.
final class WaitingLine: Sendable {
    private let waiters = Mutex(WaitingQueue<CheckedContinuation<Void, any Error>>())

    struct Full: Error {}

    /// Waits until `isToWait` returns false. Throws ``Full`` if too many tasks are waiting, or `CancellationError`.
    ///
    /// - Parameter isToWait: Returns whether to wait. Called without a lock after the task was registered, so the task
    ///   can't miss a change.
    func wait(upTo maximum: Int = .max, while isToWait: () -> Bool) async throws {
        let number = waiters.withLock { $0.nextNumber() }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isFull = waiters.withLock { waiters in
                    if waiters.count >= maximum { return true }
                    waiters.append(continuation, number)
                    return false
                }
                if isFull { return continuation.resume(throwing: Full()) }
                if Task.isCancelled { cancel(number) } else if !isToWait() { remove(number)?.resume() }
            }
        } onCancel: {
            cancel(number)
        }
    }

    func resume() {
        for waiter in waiters.withLock({ $0.removeAll() }) { waiter.resume() }
    }

    private func cancel(_ number: UInt64) { remove(number)?.resume(throwing: CancellationError()) }

    private func remove(_ number: UInt64) -> CheckedContinuation<Void, any Error>? {
        waiters.withLock { $0.remove(number) }
    }
}
