import Errand
import ErrandEssentials
import Synchronization

/// The durations of recent requests to a host, and the host's budget for second requests.
final class HedgeHistory: HostRecord {
    private struct State {
        /// In nanoseconds.
        var durations: [Int64] = []
        var next = 0
        var untilSorted = 0
        var threshold: Duration?
        var tokens = 0.0
    }

    private let policy: HedgePolicy
    private let state = Mutex(State())
    private static let capacity = 256
    private static let burst = 10.0

    init(_ policy: HedgePolicy) { self.policy = policy }

    /// Running requests don't keep the record. A duration added to a retired record is lost.
    func retire(at now: ContinuousClock.Instant, isForced: Bool) -> Bool {
        isForced || state.withLock { $0.durations.isEmpty && $0.tokens == 0 }
    }

    /// Returns the delay before a second request, or nil if too few durations are known.
    func begin() -> Duration? {
        let share = policy.share > 0 ? min(policy.share, 1) : 0
        return state.withLock { state in
            state.tokens = min(state.tokens + share, Self.burst)
            return state.threshold
        }
    }

    func spend() -> Bool {
        state.withLock { state in
            // Rounding: the sum of twenty shares of 0.05 isn't exactly 1.
            guard state.tokens >= 1 - 1e-9 else { return false }
            state.tokens -= 1
            return true
        }
    }

    func refund() { state.withLock { $0.tokens = min($0.tokens + 1, Self.burst) } }

    /// For a request that lost the race, this is the time until it lost.
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
            // Sorting is expensive, so it's less frequent once many durations are known.
            let count = state.durations.count
            state.untilSorted = count < Self.capacity ? count / 4 : count
            let part = policy.percentile > 0 ? min(policy.percentile, 1) : 0
            let index = Int((Double(state.durations.count) * part).rounded(.up)) - 1
            let threshold = state.durations.sorted()[max(0, min(index, state.durations.count - 1))]
            state.threshold = max(.nanoseconds(threshold), policy.minimumDelay)
        }
    }
}
