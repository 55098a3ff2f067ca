import Errand
import Synchronization

/// The result of the cache for a call. The caller reads it here, since the agent's error mapping may replace a
/// ``CacheMiss``.
final class CacheReport: Sendable {
    private let state = Mutex(State())
    /// The reasons that the caller gets as a failure; any other one says that nothing is stored.
    private let failures: Set<CacheMiss.Reason>?

    private struct State {
        var miss: CacheMiss?
        var isCompleted = false
        var failure: (any Error)?
    }

    /// The reason why no stored response was served.
    var miss: CacheMiss? { state.withLock { $0.miss } }
    /// Whether a cache carried out the removal or the storing.
    var isCompleted: Bool { state.withLock { $0.isCompleted } }
    /// The error of the store, if it failed.
    var failure: (any Error)? { state.withLock { $0.failure } }

    /// The miss that caused an error, which the agent may have mapped; nil for other failures.
    func miss(behind error: any Error) -> CacheMiss? {
        if error is CancellationError || (error as? ErrandError)?.isCancelled == true { return nil }
        return miss ?? error as? CacheMiss
    }

    /// - Parameter failures: the misses that are failures of the call; nil stands for all.
    init(failures: Set<CacheMiss.Reason>? = nil) { self.failures = failures }

    /// Records a miss, and returns it to be thrown.
    func recorded(_ miss: CacheMiss) -> CacheMiss {
        var miss = miss
        miss.isExpected = failures?.contains(miss.reason) == false
        state.withLock { $0.miss = miss }
        return miss
    }

    func complete(_ failure: (any Error)? = nil) {
        state.withLock { state in
            state.isCompleted = true
            state.failure = state.failure ?? failure
        }
    }
}
