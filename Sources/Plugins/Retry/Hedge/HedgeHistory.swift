import Errand
import Synchronization

/// The durations of the last requests to one host, and the number of second ones that it may get.
final class HedgeHistory: HostRecord {
    private struct State {
        /// The durations in nanoseconds.
        var durations: [Int64] = []
        var next = 0
        var untilSorted = 0
        var threshold: Duration?
        /// The number of calls times the share, less the second requests that were sent.
        var tokens = 0.0
    }

    private let policy: HedgePolicy
    private let state = Mutex(State())
    private static let capacity = 256
    private static let burst = 10.0

    init(_ policy: HedgePolicy) { self.policy = policy }

    /// A running request may still be added to it: only its duration is lost.
    func retire(at now: ContinuousClock.Instant, isForced: Bool) -> Bool {
        isForced || state.withLock { $0.durations.isEmpty && $0.tokens == 0 }
    }

    /// Counts a call. Returns the time before a second request; nil while too little is known.
    func begin() -> Duration? {
        let share = policy.share > 0 ? min(policy.share, 1) : 0
        return state.withLock { state in
            state.tokens = min(state.tokens + share, Self.burst)
            return state.threshold
        }
    }

    /// Takes one second request, if the budget has one.
    func spend() -> Bool {
        state.withLock { state in
            // The sum of twenty twentieths is not exactly 1.
            guard state.tokens >= 1 - 1e-9 else { return false }
            state.tokens -= 1
            return true
        }
    }

    /// A second request that was not sent.
    func refund() { state.withLock { $0.tokens = min($0.tokens + 1, Self.burst) } }

    /// Adds the duration of the first request of a call, or its duration when it lost.
    func add(_ duration: Duration) {
        let (seconds, attoseconds) = duration.bounded.components
        let nanoseconds = seconds * 1_000_000_000 + attoseconds / 1_000_000_000
        state.withLock { state in
            if state.durations.count < Self.capacity {
                state.durations.append(nanoseconds)
            } else {
                state.durations[state.next] = nanoseconds
                state.next = (state.next + 1) % Self.capacity
            }
            guard state.durations.count >= max(2, policy.minimumSamples) else { return }
            state.untilSorted -= 1
            if state.untilSorted > 0 { return }
            // Sorting costs as much as many requests do, so it is done rarely, once much is known.
            let count = state.durations.count
            state.untilSorted = count < Self.capacity ? count / 4 : count
            let part = policy.percentile > 0 ? min(policy.percentile, 1) : 0
            let index = Int((Double(state.durations.count) * part).rounded(.up)) - 1
            let threshold = state.durations.sorted()[max(0, min(index, state.durations.count - 1))]
            state.threshold = max(.nanoseconds(threshold), policy.minimumDelay)
        }
    }
}
