import ErrandHTTP
import ErrandSupport

enum FilterChain {
    static func make(
        of request: some Request, _ callFilters: [any Filter], _ tags: Tags, _ settings: PipelineSettings
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
        return make(settings.filters, own, settings.transport, standard: settings.chain)
    }

    /// The filters must not contain groups.
    ///
    /// - Parameter standard: The agent's chain, whose end the new chain shares. Nil to build the agent's chain.
    static func make(
        _ filters: [any Filter], _ own: [any Filter], _ transport: any Transport, standard: Next? = nil
    ) -> Next {
        var (steps, ownEnd): ([(filter: any Filter, stage: FilterStages)], Int) = ([], 0)
        func add(_ stage: FilterStages) {
            steps += filters.filter { $0.stages.contains(stage) }.map { ($0, stage) }
            let added = own.filter { $0.stages.contains(stage) }
            steps += added.map { ($0, stage) }
            if !added.isEmpty { ownEnd = steps.count }
        }
        add(.call)
        steps.append((RedirectStep(), .call))
        add(.hop)
        add(.wire)
        let looksAgain = own.contains { $0.stages.contains(.wire) && $0 is any PreSendFilter }
        steps.append((WireStep(transport, after: standard == nil || looksAgain ? filters + own : []), .hop))
        if looksAgain { ownEnd = steps.count }
        var (next, common) = (Next(), standard?.steps ?? [])
        let firstOnWire = steps.firstIndex { $0.stage == .wire }
        for (index, step) in steps.enumerated().reversed() {
            let shared = index < ownEnd ? nil : common.popLast()
            next = Next(
                shared
                    ?? FilterStep(
                        step.filter, step.stage, next, beginsWire: index == firstOnWire, isCommon: standard == nil))
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
    /// From this step to the first of Core's steps in the stage.
    let following: FilterTraits

    init(_ filter: any Filter, _ stage: FilterStages, _ next: Next, beginsWire: Bool = false, isCommon: Bool) {
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
        passed.settle()
        if step.beginsWire { passed.stage = .wire }
        return passed
    }
}

protocol CoreStep: Filter {}
