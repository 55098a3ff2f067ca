public import ErrandHTTP

/// The remaining filters and the transport. Call it once or several times, also from child tasks.
public struct Next: Sendable {
    /// The next step, or nil after the last step.
    @usableFromInline let step: FilterStep?

    init(_ step: FilterStep? = nil) { self.step = step }

    /// Passes an exchange to the remaining filters and the transport. Throws their error, or
    /// ``ErrandError/Code/activityEnded`` once the activity is over.
    @inlinable @inline(__always) public func callAsFunction(_ exchange: Exchange) async throws -> HTTPResponse {
        // Inlined into the calling filter, so a step costs one async frame instead of two.
        guard let step, isOpen(for: exchange) else { throw ended(exchange) }
        if exchange.isOriginChecked, !step.beginsWire { return try await step.filter.filter(exchange, next: step.next) }
        return try await step.filter.filter(exchange.passed(to: step), next: step.next)
    }

    /// Whether the exchange can still be sent. A shared exchange stays open after its own call has ended, because
    /// another call that shares it may still be running.
    @usableFromInline func isOpen(for exchange: Exchange) -> Bool {
        !exchange.activity.isOver || exchange.shared != nil
    }

    /// Identifies the remaining filters and the transport, so you can compare them with another exchange's. Nil if a
    /// remaining filter belongs only to this request, its call or its tags.
    public var remainingPipeline: RemainingPipeline? {
        guard let step, step.isCommon else { return nil }
        return RemainingPipeline(step: ObjectIdentifier(step), hasFilters: step.hasFilters)
    }

    /// The ``Filter/traits`` of the remaining filters in this stage. A filter that runs in two stages counts in each.
    public var following: FilterTraits {
        guard let step, !step.beginsWire else { return [] }
        return step.following
    }

    /// Returns a copy with one more filter. The new filter runs after the last filter of this stage that has one of the
    /// traits. If no filter has one of the traits, it runs before all others.
    public func inserting(_ filter: any Filter, behind traits: FilterTraits) -> Next {
        let current = step.map { $0.beginsWire ? .hop : $0.stage } ?? .hop
        let stage = Array(steps.prefix { $0.stage == current && !($0.filter is any CoreStep) })
        let index = (stage.lastIndex { !$0.filter.traits.isDisjoint(with: traits) } ?? -1) + 1
        let rest = index < stage.count ? Next(stage[index]) : stage.last?.next ?? self
        let inserted = Next(FilterStep(filter, at: current, before: rest, isCommon: false))
        return stage[..<index].reversed().reduce(inserted) { next, step in
            Next(FilterStep(step.filter, at: current, before: next, beginsWire: step.beginsWire, isCommon: false))
        }
    }

    var steps: [FilterStep] { Array(sequence(first: step) { $0?.next.step }.prefix { $0 != nil }.compactMap(\.self)) }

    @usableFromInline @inline(never) func ended(_ exchange: Exchange) -> any Error {
        var error = ErrandError(
            .activityEnded,
            "next was called after the activity had ended; use Exchange.detach for work that outlives its call")
        error.request = exchange.http
        return error
    }
}

/// Identifies the filters and the transport that remain after a filter, if every request of the agent uses them. Two
/// running exchanges with equal values use the same agent with the same configuration.
public struct RemainingPipeline: Hashable, Sendable {
    private let step: ObjectIdentifier
    /// Whether filters remain, in addition to redirects and the transport.
    public let hasFilters: Bool

    init(step: ObjectIdentifier, hasFilters: Bool) { (self.step, self.hasFilters) = (step, hasFilters) }
}
