public import ErrandHTTP

/// The rest of the way, as a filter sees it: callable from child tasks, and several times.
public struct Next: Sendable {
    /// Nil behind the last step.
    @usableFromInline let step: FilterStep?

    init(_ step: FilterStep? = nil) { self.step = step }

    /// Sends an exchange through the rest of the way. Throws what it throws, and ``ErrandError/Code/activityEnded`` once
    /// the activity is over.
    @inlinable @inline(__always) public func callAsFunction(_ exchange: Exchange) async throws -> HTTPResponse {
        // In line within the filter that calls it, so that a step costs one async frame and not two. There is a step if it is
        // open: where it is not bound to a name, it is not retained for the time of the call.
        guard isOpen(for: exchange) else { throw ended(exchange) }
        return try await step.unsafelyUnwrapped.filter.filter(exchange, next: step.unsafelyUnwrapped.next)
    }

    func step(for exchange: Exchange) throws -> FilterStep {
        guard let step, isOpen(for: exchange) else { throw ended(exchange) }
        return step
    }

    /// Whether there is a step, and the call of an exchange is still under way, or one that shares it may be.
    @usableFromInline func isOpen(for exchange: Exchange) -> Bool {
        step != nil && (!exchange.activity.isOver || exchange.shared != nil)
    }

    /// Identifies the rest of the way, where every request of the agent takes the same; nil where a filter follows that
    /// this request, its call or its tags have brought.
    public var commonWay: CommonWay? {
        guard let step, step.isCommon else { return nil }
        return CommonWay(step: ObjectIdentifier(step), hasFilters: step.hasFilters)
    }

    /// What the filters do that follow in this stage, by their ``Filter/traits``; a filter for two stages counts in each.
    public var following: FilterTraits { step?.following ?? [] }

    /// The same way with a filter more: behind the last one of this stage that has one of the traits, or before all.
    public func inserting(_ filter: any Filter, behind traits: FilterTraits) -> Next {
        let stage = Array(steps.prefix { !($0.filter is any CoreStep) })
        let place = (stage.lastIndex { !$0.filter.traits.isDisjoint(with: traits) } ?? -1) + 1
        let rest = place < stage.count ? Next(stage[place]) : stage.last?.next ?? self
        return stage[..<place].reversed().reduce(Next(FilterStep(filter, rest, isCommon: false))) { way, step in
            Next(FilterStep(step.filter, way, isCommon: false))
        }
    }

    /// In order; the last one does not call `next`.
    var steps: [FilterStep] { Array(sequence(first: step) { $0?.next.step }.prefix { $0 != nil }.compactMap(\.self)) }

    @usableFromInline @inline(never) func ended(_ exchange: Exchange) -> any Error {
        var error = ErrandError(.activityEnded, "next was called after the activity had ended; see Exchange.detach")
        error.request = exchange.http
        return error
    }
}

/// One step of the way of a call, and what follows.
@usableFromInline final class FilterStep: Sendable {
    @usableFromInline let filter: any Filter
    @usableFromInline let next: Next
    /// The filter, if it is that.
    let wire: WireStep?
    /// Whether every request of the agent takes this step and those that follow.
    let isCommon: Bool
    /// Whether this step, or one that follows, is none of Core's own.
    let hasFilters: Bool
    /// The traits of this step and of those that follow in its stage; those of Core's own end it.
    let following: FilterTraits

    init(_ filter: any Filter, _ next: Next, isCommon: Bool) {
        (self.filter, self.next, self.isCommon, wire) = (filter, next, isCommon, filter as? WireStep)
        let isCore = filter is any CoreStep
        hasFilters = !isCore || next.step?.hasFilters == true
        following = isCore ? [] : filter.traits.union(next.following)
    }
}

/// A step of Core's own.
protocol CoreStep: Filter {}

/// The filters and the transport that follow a filter for every request of an agent. Of two exchanges under way that have
/// equal ones, the same configuration of the same agent does the rest.
public struct CommonWay: Hashable, Sendable {
    private let step: ObjectIdentifier
    /// Whether filters follow, and not only redirects and the transport.
    public let hasFilters: Bool

    init(step: ObjectIdentifier, hasFilters: Bool) { (self.step, self.hasFilters) = (step, hasFilters) }
}
