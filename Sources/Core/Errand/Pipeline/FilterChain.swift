/// Builds the filter chain of a call from the agent's filters and those of the request, its call and its tags.
enum FilterChain {
    /// Builds the chain of one call.
    static func make(
        of request: any Request, _ callFilters: [any Filter], _ tags: Tags, _ settings: PipelineSettings
    ) -> Next {
        // Checking the type is cheaper than casting the request.
        let isProviding = type(of: request) is any FilterProvidingRequest.Type
        let required = isProviding ? (request as? any FilterProvidingRequest)?.requiredFilters ?? [] : []
        let filters = request.filters
        if required.isEmpty, filters.isEmpty, callFilters.isEmpty, tags.isEmpty { return settings.chain }
        let tagged = tags.values.flatMap { ($0 as? any FilterProvidingTag)?.requiredFilters ?? [] }
        // Filters listed for a call take precedence over those that its type or a tag requires, wherever each is
        // placed.
        let named = (filters + callFilters).ungrouped().withoutCovered(by: settings.filters)
        let needed = required.ungrouped().withoutCovered(by: settings.filters + named)
        let last = tagged.ungrouped().withoutCovered(by: settings.filters + named + needed)
        let own = needed + named + last
        if own.isEmpty { return settings.chain }
        return make(settings.filters, own, settings.transport, standard: settings.chain)
    }

    /// Builds a chain from the agent's filters and a call's filters, both without groups.
    ///
    /// - Parameter standard: the agent's chain for calls without filters, whose end this chain shares. Nil to build
    ///   that chain.
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
        let looksAgain = own.contains { $0.stages.contains(.wire) && $0 is any DepartureFilter }
        steps.append((WireStep(transport, after: standard == nil || looksAgain ? filters + own : []), .hop))
        if looksAgain { ownEnd = steps.count }
        // After the last of the call's own steps, the chain is the agent's.
        var (way, common) = (Next(), standard?.steps ?? [])
        let firstOnWire = steps.firstIndex { $0.stage == .wire }
        for (index, step) in steps.enumerated().reversed() {
            let shared = index < ownEnd ? nil : common.popLast()
            way = Next(
                shared
                    ?? FilterStep(
                        step.filter, step.stage, way, beginsWire: index == firstOnWire, isCommon: standard == nil))
        }
        return way
    }
}

extension [any Filter] {
    /// Returns the filters without those that have the trait ``FilterTraits/unique`` and another filter of the same
    /// type, either in `others` or further out in this array.
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
