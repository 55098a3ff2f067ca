/// The rest of the way, as a filter sees it: callable from child tasks, and several times.
public struct Next: Sendable {
    private let chain: FilterChain
    private let index: Int

    init(_ chain: FilterChain, _ index: Int) {
        self.chain = chain
        self.index = index
    }

    /// Goes on with an exchange. Throws what the rest of the way throws, and ``ErrandError/Code/activityEnded`` once
    /// the activity is over.
    public func callAsFunction(_ exchange: Exchange) async throws -> HTTPResponse {
        if exchange.activity.isOver {
            var error = ErrandError(.activityEnded, "next was called after the activity had ended; see Exchange.detach")
            error.request = exchange.http
            throw error
        }
        if index < chain.filters.count, index != chain.redirectsAt || exchange.stage == .hop {
            return try await chain.filters[index].filter(exchange, next: Next(chain, index + 1))
        }
        return try await chain.goOn(exchange)
    }
}

/// The filters of a call in the order of the way, with the place of the redirects between the two stages.
final class FilterChain: Sendable {
    let filters: [any Filter]
    /// How many of them are call filters.
    let redirectsAt: Int
    let transport: any Transport

    init(_ filters: [any Filter], transport: any Transport) {
        let call = filters.filter { $0.stages.contains(.call) }
        self.filters = call + filters.filter { $0.stages.contains(.hop) }
        redirectsAt = call.count
        self.transport = transport
    }

    /// Below the filters of a stage: to the hops, or to the wire.
    func goOn(_ exchange: Exchange) async throws -> HTTPResponse {
        if exchange.stage == .hop { return try await wire(exchange) }
        return try await followRedirects(exchange) { try await Next(self, redirectsAt)($0) }
    }
}
