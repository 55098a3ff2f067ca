import ErrandCollections
import ErrandSupport
import Synchronization

/// Admits one task at a time, in order of arrival.
final class AsyncTurns: Sendable {
    private struct State {
        var isTaken = false
        var waiting = WaitingQueue<CheckedContinuation<Bool, Never>>()
    }

    private let state = Mutex(State())

    func take() async throws {
        let number = state.withLock { $0.waiting.nextNumber() }
        let isMine = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let result = state.withLock { state -> Bool? in
                    if Task.isCancelled { return false }
                    if state.isTaken {
                        state.waiting.append(continuation, number)
                        return nil
                    }
                    state.isTaken = true
                    return true
                }
                if let result { continuation.resume(returning: result) }
            }
        } onCancel: {
            state.withLock { $0.waiting.remove(number) }?.resume(returning: false)
        }
        if !isMine { throw CancellationError() }
    }

    func give() {
        let next = state.withLock { state in
            let next = state.waiting.popFirst()
            if next == nil { state.isTaken = false }
            return next
        }
        next?.resume(returning: true)
    }
}
