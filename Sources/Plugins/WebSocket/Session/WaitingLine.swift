import Synchronization

/// Tasks that wait until something has changed; all of them look again then.
final class WaitingLine: Sendable {
    private struct State {
        var waiters: [(id: UInt64, continuation: CheckedContinuation<Void, any Error>)] = []
        var last: UInt64 = 0
    }

    private let state = Mutex(State())

    /// So many wait as may.
    struct Full: Error {}

    /// Waits for the next `resume`. Throws ``Full``, and a cancellation of the task.
    ///
    /// - Parameters:
    ///   - maximum: how many may wait.
    ///   - isToWait: asked once a change cannot be missed any more; called without a lock.
    func wait(upTo maximum: Int = .max, while isToWait: () -> Bool) async throws {
        let id = state.withLock { state in
            state.last += 1
            return state.last
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isFull = state.withLock { state in
                    if state.waiters.count < maximum { state.waiters.append((id, continuation)) } else { return true }
                    return false
                }
                if isFull { return continuation.resume(throwing: Full()) }
                if Task.isCancelled { cancel(id) } else if !isToWait() { remove(id)?.resume() }
            }
        } onCancel: {
            cancel(id)
        }
    }

    /// Resumes all that wait.
    func resume() {
        let waiters = state.withLock { state in
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.continuation.resume() }
    }

    private func cancel(_ id: UInt64) { remove(id)?.resume(throwing: CancellationError()) }

    private func remove(_ id: UInt64) -> CheckedContinuation<Void, any Error>? {
        state.withLock { state in
            state.waiters.firstIndex { $0.id == id }.map { state.waiters.remove(at: $0).continuation }
        }
    }
}
