import Errand
import ErrandEssentials
import Synchronization

/// An activity that is still running.
final class ActivityDraft: Sendable {
    struct State {
        var host: String?
        var progress = TransferProgress()
        var stream: StreamCount?
        /// The open connection of a socket.
        var socket: SocketDraft?
        /// The exchange that began last.
        var exchange: ExchangeDraft?
        /// Earlier exchanges that had no response or no timings yet: each has failed, or still runs.
        var pending: [ExchangeDraft] = []
    }

    let date: Date
    private let state = Mutex(State())

    init(date: Date) { self.date = date }

    /// What is known by now.
    var known: State { state.withLock { $0 } }

    /// What is known at the end, once.
    func take() -> State {
        var taken = State()
        state.withLock { swap(&$0, &taken) }
        return taken
    }

    func change<Value: Sendable>(_ body: (inout State) -> Value) -> Value { state.withLock { body(&$0) } }

    /// Begins an exchange; returns one that ends by that.
    func begin(_ draft: ExchangeDraft, at now: Duration) -> ExchangeDraft? {
        state.withLock { state in
            let last = state.exchange
            state.exchange = draft
            guard let last, !last.isComplete else { return last }
            last.supersede(at: now)
            state.pending.append(last)
            // A request that is retried without end does not grow without end.
            return state.pending.count > 64 ? state.pending.removeFirst() : nil
        }
    }

    /// Adds an event to its exchange; returns that if it has ended, and another one has begun since.
    func add(_ event: ActivityEvent, at now: Duration, limit: Int) -> ExchangeDraft? {
        let (exchange, isPending) = exchange(of: event)
        exchange?.add(event, at: now, limit: limit)
        guard isPending, let exchange, exchange.isComplete else { return nil }
        state.withLock { $0.pending.removeAll { $0 === exchange } }
        return exchange
    }

    /// The exchange that an event belongs to, and whether another one has begun since.
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
