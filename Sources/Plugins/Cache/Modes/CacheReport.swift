import Errand
import Synchronization

/// What a cache did with a mode: an agent's error mapping may hide it from the caller otherwise.
final class CacheReport: Sendable {
    private let state = Mutex(State())

    private struct State {
        var miss: CacheMiss?
        var isDone = false
        var failure: (any Error)?
    }

    /// Why nothing was served.
    var miss: CacheMiss? { state.withLock { $0.miss } }
    /// Whether a cache removed or kept what it was asked to.
    var isDone: Bool { state.withLock { $0.isDone } }
    /// Why a store did not do it.
    var failure: (any Error)? { state.withLock { $0.failure } }

    /// The miss that led to an error, which an agent may have mapped; nil for another failure.
    func miss(behind error: any Error) -> CacheMiss? {
        if error is CancellationError || (error as? ErrandError)?.isCancelled == true { return nil }
        return miss ?? error as? CacheMiss
    }

    func missed(_ miss: CacheMiss) { state.withLock { $0.miss = miss } }

    func done(_ failure: (any Error)? = nil) {
        state.withLock { state in
            state.isDone = true
            state.failure = failure
        }
    }
}
