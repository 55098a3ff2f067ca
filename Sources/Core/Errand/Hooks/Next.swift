public import ErrandHTTP

/// The rest of the way, as a filter sees it: callable from child tasks, and several times.
public struct Next: Sendable {
    /// Nil behind the last step.
    @usableFromInline let step: FilterStep?

    init(_ step: FilterStep? = nil) { self.step = step }

    /// Sends an exchange through the rest of the way. Throws what it throws, and ``ErrandError/Code/activityEnded``
    /// once the activity is over.
    @inlinable @inline(__always) public func callAsFunction(_ exchange: Exchange) async throws -> HTTPResponse {
        // In line within the filter that calls it, so that a step costs one async frame and not two.
        guard let step, isOpen(for: exchange) else { throw ended(exchange) }
        if !exchange.isSettled { return try await settling(exchange) }
        if step.beginsWire { return try await step.beginWire(exchange) }
        return try await step.filter.filter(exchange, next: step.next)
    }

    /// The same for an exchange with another request than the filter was given: secrets stay at their origin.
    @usableFromInline @inline(never) func settling(_ exchange: Exchange) async throws -> HTTPResponse {
        var exchange = exchange
        exchange.settle()
        return try await self(exchange)
    }

    /// Whether the call of an exchange is still under way, or one that shares it may be.
    @usableFromInline func isOpen(for exchange: Exchange) -> Bool {
        !exchange.activity.isOver || exchange.shared != nil
    }

    /// Identifies the rest of the way, where every request of the agent takes the same; nil where a filter follows that
    /// belongs to this request, its call or its tags.
    public var commonWay: CommonWay? {
        guard let step, step.isCommon else { return nil }
        return CommonWay(step: ObjectIdentifier(step), hasFilters: step.hasFilters)
    }

    /// The ``Filter/traits`` of the filters that follow in this stage; a filter for two stages counts in each.
    public var following: FilterTraits {
        // A hop filter's way leads to the first of the wire filters.
        guard let step, !step.beginsWire else { return [] }
        return step.following
    }

    /// The same way with a filter more: behind the last one of this stage that has one of the traits, or before all.
    public func inserting(_ filter: any Filter, behind traits: FilterTraits) -> Next {
        let current = step.map { $0.beginsWire ? .hop : $0.stage } ?? .hop
        let stage = Array(steps.prefix { $0.stage == current && !($0.filter is any CoreStep) })
        let index = (stage.lastIndex { !$0.filter.traits.isDisjoint(with: traits) } ?? -1) + 1
        let rest = index < stage.count ? Next(stage[index]) : stage.last?.next ?? self
        let inserted = Next(FilterStep(filter, current, rest, isCommon: false))
        return stage[..<index].reversed().reduce(inserted) { way, step in
            Next(FilterStep(step.filter, current, way, beginsWire: step.beginsWire, isCommon: false))
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
