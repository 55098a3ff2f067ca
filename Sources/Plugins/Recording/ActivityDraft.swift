import Errand
import ErrandEssentials

/// An activity that is still running.
struct ActivityDraft: Sendable {
    let date: Date
    var host: String?
    var progress = TransferProgress()
    var stream: StreamCount?
    /// The open connection of a socket.
    var socket: SocketDraft?
    /// The exchange that began last.
    var exchange: ExchangeDraft?
    /// Earlier exchanges that had no response or no timings yet: each has failed, or still runs.
    var pending: [ExchangeDraft] = []

    /// Begins an exchange; returns one that ends by that.
    mutating func begin(_ draft: ExchangeDraft, at now: ContinuousClock.Instant) -> ExchangeDraft? {
        defer { exchange = draft }
        guard var last = exchange, !last.isComplete else { return exchange }
        last.supersededAt = now
        pending.append(last)
        // A request that is retried without end does not grow without end.
        return pending.count > 64 ? pending.removeFirst() : nil
    }

    /// Adds an event to its exchange; returns that if it has ended, and another one has begun since.
    mutating func add(_ event: ActivityEvent, at now: ContinuousClock.Instant, limit: Int) -> ExchangeDraft? {
        var position: (attempt: Int, hop: Int)?
        switch event {
        case .received(_, let attempt, let hop): position = (attempt, hop)
        case .transport(.timings(let timings)):
            if let attempt = timings.attempt, let hop = timings.hop { position = (attempt, hop) }
        default: break
        }
        guard let position, let index = pending.firstIndex(where: { ($0.attempt, $0.hop) == position }) else {
            exchange?.add(event, at: now, limit: limit)
            return nil
        }
        pending[index].add(event, at: now, limit: limit)
        return pending[index].isComplete ? pending.remove(at: index) : nil
    }
}
