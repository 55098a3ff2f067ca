public import Errand
import ErrandEssentials
import Synchronization

/// State behind a lock that tasks can wait on: conditions are checked after each change, so nothing polls or sleeps.
package final class Watched<State: Sendable>: Sendable {
    private struct Waiter {
        let id: UInt64
        /// Resumes the waiter and returns how, if the state satisfies its condition.
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

    /// Checks the waiters if there are any: for conditions on values beside the state.
    func touch() {
        if waiting.load(ordering: .sequentiallyConsistent) > 0 { update { _ in } }
    }

    /// Reads, without checking the waiters.
    package func read<Result: Sendable>(_ body: (inout State) -> Result) -> Result {
        guarded.withLock { body(&$0.state) }
    }

    /// Changes the state and resumes the tasks whose conditions are satisfied.
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

    /// Waits until the probe finds something. Throws ``WaitTimeout`` after `limit`, and `CancellationError`.
    package func wait<Found: Sendable>(
        for what: String, within limit: Duration, _ probe: @escaping @Sendable (inout State) -> Found?
    ) async throws -> Found {
        if let found = read({ probe(&$0) }) { return found }
        let id = ids.add(1, ordering: .relaxed).newValue
        let time = SystemTimeSource()
        let end = time.instant(after: limit)
        let timer = Task.detached { [self] in
            // Not `Task.sleep`, which leaves its timer behind where the wait ends early.
            try await time.sleep(until: end)
            // A limit so short that no task waits yet is applied a little later.
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

/// Thrown by the waits of the test kit when their limit has passed.
public struct WaitTimeout: DescribedError, Sendable {
    /// The condition that was waited for.
    public let what: String
    /// The limit of the wait.
    public let limit: Duration
    /// A sentence for a test's log.
    public var description: String { "waited \(duration: limit) for \(what)" }
    /// 1: there is one kind.
    public var errorCode: Int { 1 }
}
