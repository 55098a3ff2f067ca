public import Errand
import ErrandEssentials
import Synchronization

/// A state that is protected by a lock. Tasks can wait for its changes without polling.
package final class Watched<State: Sendable>: Sendable {
    private struct Waiter {
        let id: UInt64
        let probe: (inout State) -> (@Sendable () -> Void)?
        let fail: @Sendable (any Error) -> Void
    }

    private struct Guarded {
        var state: State
        var waiters: [Waiter] = []
    }

    private let guarded: Mutex<Guarded>
    private let ids = Atomic<UInt64>(0)
    private let waiting = Atomic(0)

    package init(_ state: State) { guarded = Mutex(Guarded(state: state)) }

    /// Makes waiting tasks check their conditions. Call it after you've changed a value outside the state that a
    /// condition reads.
    func touch() {
        if waiting.load(ordering: .sequentiallyConsistent) > 0 { update { _ in } }
    }

    /// Reads the state. Unlike `update`, this doesn't check the conditions of waiting tasks.
    package func read<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        guarded.withLock { body(&$0.state) }
    }

    @discardableResult
    package func update<Result: Sendable>(_ change: (inout State) -> Result) -> Result {
        let (result, resumed) = guarded.withLock { guarded -> (Result, [@Sendable () -> Void]) in
            let result = change(&guarded.state)
            if guarded.waiters.isEmpty { return (result, []) }
            var resumed: [@Sendable () -> Void] = []
            var waiters = guarded.waiters
            waiters.removeAll { waiter in
                guard let resume = waiter.probe(&guarded.state) else { return false }
                resumed.append(resume)
                return true
            }
            guarded.waiters = waiters
            return (result, resumed)
        }
        for resume in resumed { resume() }
        return result
    }

    /// Waits until `probe` returns a value. Throws ``WaitTimeout`` after `limit`, and `CancellationError` if the task
    /// is cancelled.
    package func wait<Found: Sendable>(
        for what: String, within limit: Duration, _ probe: @escaping @Sendable (inout State) -> Found?
    ) async throws -> Found {
        if let found = read({ probe(&$0) }) { return found }
        let id = ids.add(1, ordering: .relaxed).newValue
        let time = SystemTimeSource()
        let end = time.instant(after: limit)
        let timer = Task.detached { [self] in
            // This timer ends when the wait ends early. A timer from `Task.sleep` would go on.
            try await time.sleep(until: end)
            // The limit may pass before the waiting task is registered, so this is repeated.
            while !fail(id, WaitTimeout(what: what, limit: limit)) { try await Task.sleep(for: .milliseconds(10)) }
        }
        waiting.add(1, ordering: .sequentiallyConsistent)
        defer {
            waiting.subtract(1, ordering: .sequentiallyConsistent)
            timer.cancel()
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let found = guarded.withLock { guarded -> Found? in
                    if let found = probe(&guarded.state) { return found }
                    guarded.waiters.append(
                        Waiter(
                            id: id,
                            probe: { state in
                                guard let found = probe(&state) else { return nil }
                                return { continuation.resume(returning: found) }
                            }, fail: { continuation.resume(throwing: $0) }))
                    return nil
                }
                if let found {
                    continuation.resume(returning: found)
                } else if Task.isCancelled {
                    fail(id, CancellationError())
                }
            }
        } onCancel: {
            fail(id, CancellationError())
        }
    }

    @discardableResult
    private func fail(_ id: UInt64, _ error: any Error) -> Bool {
        let waiter = guarded.withLock { guarded in
            guarded.waiters.firstIndex { $0.id == id }.map { guarded.waiters.remove(at: $0).fail }
        }
        waiter?(error)
        return waiter != nil
    }
}

/// The error of a method that waits, if its condition isn't met within the limit.
public struct WaitTimeout: DescribedError, Sendable {
    /// The condition that wasn't met, in words.
    public let what: String
    /// The limit of the wait.
    public let limit: Duration
    /// A sentence with the condition and the limit, for test logs.
    public var description: String { "waited \(duration: limit) for \(what)" }
    /// The code of the `NSError`. Always 1.
    public var errorCode: Int { 1 }
}
