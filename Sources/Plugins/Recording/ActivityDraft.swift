import Errand
import ErrandEssentials
import Synchronization

final class ActivityDraft: Sendable {
    struct State {
        var host: String?
        var progress = TransferProgress()
        var stream: StreamCount?
        var socket: SocketDraft?
        var exchange: ExchangeDraft?
        /// Earlier exchanges without a response or timings so far. Each has failed or is still running.
        var pending: [ExchangeDraft] = []
    }

    let date: Date
    private let state = Mutex(State())

    init(date: Date) { self.date = date }

    var known: State { state.withLock { $0 } }

    /// Empties the draft.
    func take() -> State {
        var taken = State()
        state.withLock { swap(&$0, &taken) }
        return taken
    }

    func change<Value: Sendable>(_ body: (inout State) -> Value) -> Value { state.withLock { body(&$0) } }

    /// Returns the exchange that this ends, if any.
    func begin(_ draft: ExchangeDraft, at now: Duration) -> ExchangeDraft? {
        state.withLock { state in
            let last = state.exchange
            state.exchange = draft
            guard let last, !last.isComplete else { return last }
            last.supersede(at: now)
            state.pending.append(last)
            // Limit the list, in case a request is retried forever.
            return state.pending.count > 64 ? state.pending.removeFirst() : nil
        }
    }

    /// Returns the exchange if it has ended and a newer one has begun.
    func add(_ event: ActivityEvent, at now: Duration, limit: Int) -> ExchangeDraft? {
        let (exchange, isPending) = exchange(of: event)
        exchange?.add(event, at: now, limit: limit)
        guard isPending, let exchange, exchange.isComplete else { return nil }
        state.withLock { $0.pending.removeAll { $0 === exchange } }
        return exchange
    }

    private func exchange(of event: ActivityEvent) -> (ExchangeDraft?, isPending: Bool) {
        var position: (attempt: Int, hop: Int)?
        switch event {
        case .received(_, let attempt, let hop): position = (attempt, hop)
        case .transport(.timings(let timings)):
            if let attempt = timings.attempt, let hop = timings.hop { position = (attempt, hop) }
        default: break
        }
        return state.withLock { state in
            if case .transport(.progress(let progress)) = event { state.progress = progress }
            let pending = position.flatMap { position in
                state.pending.first { ($0.attempt, $0.hop) == position }
            }
            return (pending ?? state.exchange, pending != nil)
        }
    }
}
