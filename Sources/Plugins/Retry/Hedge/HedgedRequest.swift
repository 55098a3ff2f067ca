import Errand

/// One of the requests of a hedged call. What filters further on add to the call, checks and staged work, is the
/// request's own until it is known which of them counts.
struct HedgedRequest: Sendable {
    let task: SentTask
    private let exchange: Exchange
    private let shared: SharedExchange

    init(_ exchange: Exchange, _ next: Next) {
        let shared = SharedExchange(for: HedgedCall(exchange))
        task = SentTask { try await shared.send(exchange, next: next) }
        (self.exchange, self.shared) = (exchange, shared)
    }

    /// Adds to the call what filters have added, once the request has ended: it counts.
    func count() async { await shared.distribute(to: [exchange]) }

    /// Discards what filters have added and still add: the other request counts. Does not wait for one that runs.
    func discard() async {
        if task.isFinished { await end() } else { Task { await end() } }
    }

    private func end() async {
        _ = await task.result
        await shared.distribute(to: [])
    }
}

/// The call that sends a request twice.
private final class HedgedCall: ExchangeSharing {
    private let exchange: Exchange

    init(_ exchange: Exchange) { self.exchange = exchange }

    var deadline: ContinuousClock.Instant? { exchange.deadline }
    func report(_ event: TransportEvent) { exchange.report(event) }
}
