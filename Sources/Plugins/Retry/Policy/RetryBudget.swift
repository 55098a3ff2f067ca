import Errand
import Synchronization

/// Limits the retries of all calls to a host, so retries don't overload a failing server.
///
/// The number of retries is at most `share` times the number of calls to the host. The first `reserve` retries are
/// always allowed, so an app that just started can retry, but these retries reduce the number that later calls may use.
/// Over time, a server that fails every call receives at most 1 + `share` times the app's calls. Up to 100 unused
/// retries are kept for later.
public struct RetryBudget: Sendable, Hashable {
    /// The number of retries per call. Defaults to 0.1.
    public var share: Double
    /// The number of retries that are allowed regardless of the number of calls. If a single call may use more retries
    /// than the reserve, that number applies instead. Defaults to 5.
    public var reserve: Int
    /// How long calls and retries count, if some calls to the host succeed. Defaults to 60 seconds.
    ///
    /// If every call to a host fails, the counts never expire.
    public var period: Duration

    /// Creates a budget. A share that is negative or NaN counts as 0.
    public init(share: Double = 0.1, reserve: Int = 5, period: Duration = .seconds(60)) {
        (self.share, self.reserve, self.period) = (share, reserve, period)
    }
}

/// Counts the calls and retries to a host. A call counts when its first attempt ends.
final class RetryLedger: HostRecord {
    private struct State {
        var begin: ContinuousClock.Instant?
        var calls = 0.0
        var retries = 0.0
        var hasSucceeded = false
        var lastUse: (at: ContinuousClock.Instant, period: Duration)?
        var isRetired = false
    }

    private let state = Mutex(State())

    /// Keeps the record of a host that fails every call, unless forced, because a new record would get a new reserve of
    /// retries.
    func retire(at now: ContinuousClock.Instant, isForced: Bool) -> Bool {
        state.withLock { state in
            let isOld = state.lastUse.map { $0.at.duration(to: now) >= $0.period } ?? true
            state.isRetired = isForced || isOld && (state.hasSucceeded || state.calls == 0 && state.retries == 0)
            return state.isRetired
        }
    }

    // The following functions return nil if the record is retired.

    func succeeded(_ budget: RetryBudget, isFirst: Bool, at now: ContinuousClock.Instant) -> Void? {
        state.withLock { state in
            if state.isRetired { return nil }
            if isFirst { count(&state, budget) }
            state.hasSucceeded = true
            state.lastUse = (now, budget.period)
        }
    }

    /// Counts a failed call. First resets expired counts, if a call has succeeded since they began.
    func failed(_ budget: RetryBudget, at now: ContinuousClock.Instant) -> Void? {
        state.withLock { state in
            if state.isRetired { return nil }
            let begin = state.begin ?? now
            let isOver = state.hasSucceeded && begin.duration(to: now) >= budget.period
            if isOver { state = State() }
            state.begin = isOver ? now : begin
            state.lastUse = (now, budget.period)
            count(&state, budget)
        }
    }

    /// Counts a call, but only up to 100 unused retries. Otherwise, a server that fails after a week without failures
    /// would receive a flood of retries.
    private func count(_ state: inout State, _ budget: RetryBudget) {
        if state.calls * Self.share(of: budget) < state.retries + 100 { state.calls += 1 }
    }

    private static func share(of budget: RetryBudget) -> Double { budget.share > 0 ? min(budget.share, 1e6) : 0 }

    func spend(_ budget: RetryBudget, maximumAttempts: Int, at now: ContinuousClock.Instant) -> Bool? {
        let share = Self.share(of: budget)
        let reserve = Double(max(budget.reserve, maximumAttempts - 1, 0))
        return state.withLock { state in
            if state.isRetired { return nil }
            // Rounding: a tenth of 70 calls isn't exactly 7.
            guard state.retries + 1 <= max(reserve, state.calls * share + 1e-6) else { return false }
            state.retries += 1
            state.lastUse = (now, budget.period)
            return true
        }
    }

    func refund() { state.withLock { $0.retries = max(0, $0.retries - 1) } }
}
