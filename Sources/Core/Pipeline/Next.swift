public import ErrandHTTP

/// The rest of the way, as a filter sees it: callable from child tasks, and several times.
public struct Next: Sendable {
    private let chain: FilterChain
    private let index: Int

    init(_ chain: FilterChain, _ index: Int) {
        self.chain = chain
        self.index = index
    }

    /// Sends an exchange through the rest of the way. Throws what it throws, and ``ErrandError/Code/activityEnded`` once
    /// the activity is over.
    public func callAsFunction(_ exchange: Exchange) async throws -> HTTPResponse {
        if exchange.activity.isOver { throw ended(exchange) }
        return try await chain.steps[index].filter(exchange, next: Next(chain, index + 1))
    }

    @inline(never) private func ended(_ exchange: Exchange) -> any Error {
        var error = ErrandError(.activityEnded, "next was called after the activity had ended; see Exchange.detach")
        error.request = exchange.http
        return error
    }
}

/// The steps of one call, in order; the last one does not call `next`.
final class FilterChain: Sendable {
    let steps: [any Filter]

    init(_ steps: [any Filter]) { self.steps = steps }

    func send(_ exchange: Exchange) async throws -> HTTPResponse { try await Next(self, 0)(exchange) }
}
