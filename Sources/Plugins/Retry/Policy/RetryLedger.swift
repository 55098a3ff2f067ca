import Errand
import Synchronization

/// Counts calls and retries of one host against a budget. A call counts when its first attempt has an end.
final class RetryLedger: Sendable {
    private struct State {
        var begin: ContinuousClock.Instant?
        var calls = 0.0
        var retries = 0.0
        var hasSucceeded = false
    }

    private let state = Mutex(State())

    /// A call ended well; `isFirst` if its first attempt did.
    func succeeded(_ budget: RetryBudget, isFirst: Bool) {
        state.withLock { state in
            if isFirst { count(&state, budget) }
            state.hasSucceeded = true
        }
    }

    /// The first attempt of a call failed. Counts begin anew once they are old, if the host has responded well since.
    func failed(_ budget: RetryBudget, at now: ContinuousClock.Instant) {
        state.withLock { state in
            let begin = state.begin ?? now
            let isOver = state.hasSucceeded && begin.duration(to: now) >= budget.period
            if isOver { state = State() }
            state.begin = isOver ? now : begin
            count(&state, budget)
        }
    }

    /// What is not used up does not grow for ever, or a server that fails after a good week would be stormed.
    private func count(_ state: inout State, _ budget: RetryBudget) {
        if state.calls * Self.share(of: budget) < state.retries + 100 { state.calls += 1 }
    }

    private static func share(of budget: RetryBudget) -> Double { budget.share > 0 ? min(budget.share, 1e6) : 0 }

    /// Takes one retry, if the budget has one left.
    func spend(_ budget: RetryBudget, maximumAttempts: Int) -> Bool {
        let share = Self.share(of: budget)
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
