import Errand
import Synchronization

/// An exchange that has ended. Its secrets are in the clear until it is masked: by the queue of the recorder, within
/// seconds, or by a reader that comes first.
final class EndedExchange: Sendable {
    /// The properties of an exchange that its activity knows.
    struct Ending: Sendable {
        let activity: Activity.ID
        let parent: Activity.ID?
        let label: String
        let end: Duration
        /// That of the activity, if this is its last exchange.
        let outcome: RecordedOutcome?
    }

    private enum State {
        case clear(ExchangeDraft)
        // Elsewhere: most are dropped before, and stay small.
        indirect case masked(RecordedExchange)
    }

    private let state: Mutex<State>
    private let ending: Ending
    private let redaction: Redaction

    init(_ draft: ExchangeDraft, _ ending: Ending, _ redaction: Redaction) {
        state = Mutex(.clear(draft))
        (self.ending, self.redaction) = (ending, redaction)
    }

    /// The exchange without its secrets.
    var masked: RecordedExchange {
        let known = state.withLock { $0 }
        // Not under the lock: the whole exchange is searched for secrets.
        switch known {
        case .masked(let exchange): return exchange
        case .clear(let draft):
            let exchange = exchange(of: draft)
            state.withLock { $0 = .masked(exchange) }
            return withExtendedLifetime(known) { exchange }
        }
    }

    private func exchange(of draft: ExchangeDraft) -> RecordedExchange {
        var exchange = draft.masked(ending.label, redaction)
        (exchange.activity, exchange.parent, exchange.outcome) = (ending.activity, ending.parent, ending.outcome)
        exchange.duration = (draft.supersededAt ?? ending.end) - draft.start
        return exchange
    }
}
