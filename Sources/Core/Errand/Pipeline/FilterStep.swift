import ErrandHTTP

/// One step of a filter chain, with the remaining steps.
@usableFromInline final class FilterStep: Sendable {
    @usableFromInline let filter: any Filter
    let stage: FilterStages
    /// Whether this is the first wire filter, which sets the exchange's stage.
    @usableFromInline let beginsWire: Bool
    @usableFromInline let next: Next
    /// Whether every request of the agent passes this step and all later ones.
    let isCommon: Bool
    /// Whether this step or a later one isn't one of Core's.
    let hasFilters: Bool
    /// The traits of this and the following steps in its stage, up to the first of Core's steps.
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
    /// Returns the exchange that a step receives: without the secrets of another origin if the request was changed, and
    /// in the step's stage.
    ///
    /// Not async, because an async function here would cost every changed request a frame and a check of the executor.
    @usableFromInline @inline(never) func passed(to step: FilterStep) -> Exchange {
        var passed = self
        passed.settle()
        if step.beginsWire { passed.stage = .wire }
        return passed
    }
}

/// A step that belongs to Core.
protocol CoreStep: Filter {}
