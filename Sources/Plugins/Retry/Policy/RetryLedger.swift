import Errand
import Synchronization

/// Counts calls and retries of one host against a budget.
final class RetryLedger: Sendable {
    private struct State {
        var begin: ContinuousClock.Instant?
        var calls = 0.0
        var retries = 0.0
        var hasSucceeded = false
    }

    private let state = Mutex(State())

    func countCall(_ budget: RetryBudget, at now: ContinuousClock.Instant) {
        state.withLock { state in
            guard let begin = state.begin else {
                state.begin = now
                state.calls = 1
                return
            }
            if state.hasSucceeded, begin.duration(to: now) >= budget.period { state = State(begin: now) }
            state.calls += 1
        }
    }

    func succeeded() { state.withLock { $0.hasSucceeded = true } }

    /// Takes one retry, if the budget has one left.
    func spend(_ budget: RetryBudget, maximumAttempts: Int) -> Bool {
        let share = budget.share > 0 ? min(budget.share, 1e6) : 0
        let reserve = Double(max(budget.reserve, maximumAttempts - 1, 0))
        return state.withLock { state in
            // A little more than the product, which is not exact: a tenth of 70 calls is 7.
            guard state.retries + 1 <= max(reserve, state.calls * share + 1e-6) else { return false }
            state.retries += 1
            return true
        }
    }

    /// A retry that was not made after all.
    func refund() { state.withLock { $0.retries = max(0, $0.retries - 1) } }
}
