import ErrandSupport
import Synchronization

/// Tasks that wait until something has changed; all of them look again then.
final class WaitingLine: Sendable {
    private let waiters = Mutex(WaitingQueue<CheckedContinuation<Void, any Error>>())

    /// So many wait as may.
    struct Full: Error {}

    /// Waits for the next `resume`. Throws ``Full``, and a cancellation of the task.
    ///
    /// - Parameters:
    ///   - maximum: how many may wait.
    ///   - isToWait: asked once a change cannot be missed any more; called without a lock.
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

    /// Resumes all that wait.
    func resume() {
        for waiter in waiters.withLock({ $0.removeAll() }) { waiter.resume() }
    }

    private func cancel(_ number: UInt64) { remove(number)?.resume(throwing: CancellationError()) }

    private func remove(_ number: UInt64) -> CheckedContinuation<Void, any Error>? {
        waiters.withLock { $0.remove(number) }
    }
}
