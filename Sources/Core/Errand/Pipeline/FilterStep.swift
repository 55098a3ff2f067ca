import ErrandHTTP

/// One step of the way of a call, and the rest of the way.
@usableFromInline final class FilterStep: Sendable {
    @usableFromInline let filter: any Filter
    /// The stage in which the filter stands here.
    let stage: FilterStages
    /// Whether it is the first of the wire filters, which marks the exchange as at that stage.
    @usableFromInline let beginsWire: Bool
    @usableFromInline let next: Next
    /// Whether every request of the agent takes this step and those that follow.
    let isCommon: Bool
    /// Whether this step, or one that follows, is none of Core's own.
    let hasFilters: Bool
    /// The traits of this step and of those that follow in its stage; those of Core's own end it.
    let following: FilterTraits

    init(_ filter: any Filter, _ stage: FilterStages, _ next: Next, beginsWire: Bool = false, isCommon: Bool) {
        (self.filter, self.stage, self.next, self.beginsWire) = (filter, stage, next, beginsWire)
        self.isCommon = isCommon
        let isCore = filter is any CoreStep
        hasFilters = !isCore || next.step?.hasFilters == true
        following = isCore ? [] : filter.traits.union(next.following)
    }

    /// Sends an exchange that comes from the hop stage through the first of the wire filters.
    @usableFromInline @inline(never) func beginWire(_ exchange: Exchange) async throws -> HTTPResponse {
        var exchange = exchange
        exchange.stage = .wire
        return try await filter.filter(exchange, next: next)
    }
}

/// A step of Core's own.
protocol CoreStep: Filter {}
