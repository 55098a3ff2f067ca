import Errand

/// Keeps the checks and staged work of later filters until the winner is known.
struct HedgedRequest: Sendable {
    let task: SentTask
    private let exchange: Exchange
    private let shared: SharedExchange

    init(_ exchange: Exchange, _ next: Next) {
        let shared = SharedExchange(for: HedgedCall(exchange))
        task = SentTask { try await shared.send(exchange, next: next) }
        (self.exchange, self.shared) = (exchange, shared)
    }

    func count() async { await shared.distribute(to: [exchange]) }

    /// Includes the checks and staged work that the loser's filters still add.
    func discard() async {
        if task.isFinished { await end() } else { Task { await end() } }
    }

    private func end() async {
        _ = await task.result
        await shared.distribute(to: [])
    }
}

private final class HedgedCall: ExchangeSharing {
    private let exchange: Exchange

    init(_ exchange: Exchange) { self.exchange = exchange }

    var deadline: ContinuousClock.Instant? { exchange.deadline }
    func report(_ event: TransportEvent) { exchange.report(event) }
}
