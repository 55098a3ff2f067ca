import ErrandHTTP
import ErrandSupport

enum FilterChain {
    /// Returns what a request passes, in order: the call filters, the step that follows redirects, the hop filters, the
    /// wire filters, and the step with the transport. A filter of several stages is listed once for each of them.
    private static func order(
        of filters: [any Filter], andOwn own: [any Filter], before transport: any Transport, isStandard: Bool
    ) -> [PlacedFilter] {
        func placed(_ stage: FilterStages) -> [PlacedFilter] {
            filters.filter { $0.stages.contains(stage) }.map { PlacedFilter(filter: $0, stage: stage, isOwn: false) }
                + own.filter { $0.stages.contains(stage) }.map { PlacedFilter(filter: $0, stage: stage, isOwn: true) }
        }
        let needsOwnWireStep = own.contains { $0.stages.contains(.wire) && $0 is any PreSendFilter }
        let wire = WireStep(transport, after: isStandard || needsOwnWireStep ? filters + own : [])
        return placed(.call) + [PlacedFilter(filter: RedirectStep(), stage: .call, isOwn: false)]
            + placed(.hop) + placed(.wire) + [PlacedFilter(filter: wire, stage: .hop, isOwn: needsOwnWireStep)]
    }

    static func make(
        for request: some Request, filters callFilters: [any Filter], tags: Tags, settings: PipelineSettings
    ) -> Next {
        let (type, filters) = (type(of: request), request.filters)
        let isPlain = settings.filterless.excludes(type) { type is any FilterProvidingRequest.Type }
        let required = isPlain ? [] : (request as? any FilterProvidingRequest)?.requiredFilters ?? []
        if required.isEmpty, filters.isEmpty, callFilters.isEmpty, tags.isEmpty { return settings.chain }
        let tagged = tags.values.flatMap { ($0 as? any FilterProvidingTag)?.requiredFilters ?? [] }
        // Filters listed for a call take precedence over filters required by its type or tags.
        let named = (filters + callFilters).ungrouped().withoutCovered(by: settings.filters)
        let needed = required.ungrouped().withoutCovered(by: settings.filters + named)
        let last = tagged.ungrouped().withoutCovered(by: settings.filters + named + needed)
        let own = needed + named + last
        if own.isEmpty { return settings.chain }
        return make(settings.filters, andOwn: own, before: settings.transport, standard: settings.chain)
    }

    private struct PlacedFilter {
        let filter: any Filter
        let stage: FilterStages
        /// Whether only this call has the filter.
        let isOwn: Bool
    }

    /// Returns the chain for a call's filters and the transport. The filters must not contain groups.
    ///
    /// - Parameter standard: The agent's chain, whose end the new chain shares. Nil to build the agent's chain.
    static func make(
        _ filters: [any Filter], andOwn own: [any Filter] = [], before transport: any Transport, standard: Next? = nil
    ) -> Next {
        let placed = order(of: filters, andOwn: own, before: transport, isStandard: standard == nil)
        let newCount = standard == nil ? placed.count : (placed.lastIndex { $0.isOwn } ?? -1) + 1
        let firstOnWire = placed.firstIndex { $0.stage == .wire }
        // After the call's own last filter, the chain continues with the steps that all of the agent's calls share.
        var next = Next((standard?.steps ?? []).suffix(placed.count - newCount).first)
        for (index, each) in placed.prefix(newCount).enumerated().reversed() {
            next = Next(
                FilterStep(
                    each.filter, at: each.stage, before: next, beginsWire: index == firstOnWire,
                    isCommon: standard == nil))
        }
        return next
    }
}

extension [any Filter] {
    /// A ``FilterTraits/unique`` filter is covered by a filter of the same type in `others` or earlier in this array.
    func withoutCovered(by others: [any Filter]) -> [any Filter] {
        guard contains(where: { $0.traits.contains(.unique) }) else { return self }
        var kept: [any Filter] = []
        for filter in self {
            let isCovered =
                filter.traits.contains(.unique)
                && (others + kept).contains { type(of: $0) == type(of: filter) }
            if !isCovered { kept.append(filter) }
        }
        return kept
    }
}

@usableFromInline final class FilterStep: Sendable {
    @usableFromInline let filter: any Filter
    let stage: FilterStages
    /// Whether this is the first wire filter, which sets the exchange's stage.
    @usableFromInline let beginsWire: Bool
    @usableFromInline let next: Next
    /// Whether all requests of the agent pass this step and all later steps.
    let isCommon: Bool
    /// Whether this or a later step is a filter outside Core.
    let hasFilters: Bool
    /// The traits of the filters from this step up to the next of Core's steps.
    let following: FilterTraits

    init(
        _ filter: any Filter, at stage: FilterStages, before next: Next, beginsWire: Bool = false, isCommon: Bool
    ) {
        (self.filter, self.stage, self.next, self.beginsWire) = (filter, stage, next, beginsWire)
        self.isCommon = isCommon
        let isCore = filter is any CoreStep
        hasFilters = !isCore || next.step?.hasFilters == true
        following = isCore ? [] : filter.traits.union(next.following)
    }
}

extension Exchange {
    /// Removes the old origin's secrets if the request has moved.
    ///
    /// Not async, because that would cost every changed request a frame and a check of the executor.
    @usableFromInline @inline(never) func passed(to step: FilterStep) -> Exchange {
        var passed = self
        passed.dropSecretsIfMoved()
        if step.beginsWire { passed.stage = .wire }
        return passed
    }
}

protocol CoreStep: Filter {}
