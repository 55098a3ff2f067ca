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
        if exchange.activity.isOver, exchange.shared == nil { throw ended(exchange) }
        return try await chain.steps[index].filter(exchange, next: Next(chain, index + 1))
    }

    /// Identifies the rest of the way, where every request of the agent takes the same; nil where a filter follows that
    /// this request, its call or its tags have brought.
    public var commonWay: CommonWay? { chain.way(from: index) }

    @inline(never) private func ended(_ exchange: Exchange) -> any Error {
        var error = ErrandError(.activityEnded, "next was called after the activity had ended; see Exchange.detach")
        error.request = exchange.http
        return error
    }
}

/// The steps of one call, in order; the last one does not call `next`.
final class FilterChain: Sendable {
    let steps: [any Filter]

    /// What requests that bring no filters of their own pass; nil for that itself.
    private let standard: FilterChain?
    /// The index behind the last step that the request, the call or its tags have brought.
    private let ownEnd: Int
    /// The index behind the last filter that is none of Core's steps.
    private let filterEnd: Int

    init(_ steps: [any Filter], standard: FilterChain? = nil, ownEnd: Int = 0) {
        (self.steps, self.standard, self.ownEnd) = (steps, standard, ownEnd)
        let last = steps.lastIndex { !($0 is RedirectStep || $0 is WireStageStep || $0 is WireStep) }
        filterEnd = last.map { $0 + 1 } ?? 0
    }

    /// What follows an index, if every request of the agent passes it.
    func way(from index: Int) -> CommonWay? {
        if index < ownEnd { return nil }
        return CommonWay(
            chain: ObjectIdentifier(standard ?? self), length: steps.count - index, hasFilters: index < filterEnd)
    }

    func send(_ exchange: Exchange) async throws -> HTTPResponse { try await Next(self, 0)(exchange) }
}

/// The filters and the transport that follow a filter for every request of an agent. Of two exchanges under way that have
/// equal ones, the same configuration of the same agent does the rest.
public struct CommonWay: Hashable, Sendable {
    private let chain: ObjectIdentifier
    private let length: Int
    /// Whether filters follow, and not only redirects and the transport.
    public let hasFilters: Bool

    init(chain: ObjectIdentifier, length: Int, hasFilters: Bool) {
        (self.chain, self.length, self.hasFilters) = (chain, length, hasFilters)
    }
}
