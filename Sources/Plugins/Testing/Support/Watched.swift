public import Errand
import ErrandEssentials
import Synchronization

/// Lock-protected state whose changes tasks can wait for, without polling.
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

    /// Call this after changing a value that a waiter's condition reads outside the state.
    func touch() {
        if waiting.load(ordering: .sequentiallyConsistent) > 0 { update { _ in } }
    }

    /// Unlike `update`, doesn't check the waiters' conditions.
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
            // Unlike a timer of `Task.sleep`, this timer doesn't outlive a wait that ends early.
            try await time.sleep(until: end)
            // The limit may pass before the waiter is registered.
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

/// A condition wasn't met within the limit of a waiting method.
public struct WaitTimeout: DescribedError, Sendable {
    /// The condition, in words.
    public let what: String
    /// The limit.
    public let limit: Duration
    /// The condition and the limit in a sentence, for test logs.
    public var description: String { "waited \(duration: limit) for \(what)" }
    /// The code of the `NSError`. Always 1.
    public var errorCode: Int { 1 }
}
