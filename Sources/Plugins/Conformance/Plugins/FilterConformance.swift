public import Errand
import ErrandTesting

/// The requirements of a ``Filter``, as cases for any test framework.
///
/// ```swift
/// @Test(arguments: FilterConformance.cases(for: { MyFilter() }))
/// func conformance(_ each: PluginConformanceCase) async throws { try await each.run() }
/// ```
///
/// Each case creates a filter and installs it in its own agent, over a scripted in-memory transport. Most cases run in
/// real time, so configure the filter to wait for milliseconds only, and to allow two hundred requests. Excuse intended
/// deviations by the case's name, with a reason:
///
/// ```swift
/// FilterConformance.cases(
///     for: { MyFilter() },
///     knownLimitations: [
///         .named("a streamed body isn't read before the caller reads it", because: "it signs the body")
///     ])
/// ```
public enum FilterConformance {
    /// Returns the cases for the filters that `make` creates.
    ///
    /// - Parameters:
    ///   - make: Creates a filter, or a group of filters, that doesn't share state with another one.
    ///   - effects: The changes that the filter makes on purpose. Cases that don't allow them are left out. Empty by
    ///     default: the laws then derive them from the filter's traits.
    ///   - secrets: The filter's own secrets, such as keys and tokens. They must not appear in notes, errors or
    ///     descriptions, or reach another origin. Defaults to an empty list; the cases always check the secrets in
    ///     their requests.
    ///   - laws: How thoroughly to test each ``FilterLaw``. Defaults to a hundred rounds, at most a minute in all.
    ///   - limitations: Cases that don't apply, by ``KnownLimitation/named(_:because:)``. They stay in the list.
    ///   - limit: The time after which a case counts as hanging. Defaults to ten minutes.
    ///   - gracePeriod: How long a call's objects may outlive it. Defaults to 30 seconds.
    public static func cases(
        for make: @escaping @Sendable () throws -> any Filter, effects: [FilterEffect] = [], secrets: [String] = [],
        laws: LawOptions = LawOptions(), knownLimitations limitations: [KnownLimitation] = [],
        within limit: Duration = .seconds(600),
        gracePeriod: Duration = .seconds(30)
    ) -> [PluginConformanceCase] {
        let drafts: [FilterDraft] =
            FilterDraft.messages + FilterDraft.requests + FilterDraft.responses + FilterDraft.bodies
            + FilterDraft.errors + FilterDraft.repeats + FilterDraft.cancellations + FilterDraft.lifetimes
            + FilterDraft.surroundings + FilterDraft.checks + FilterDraft.users + FilterDraft.crowds
            + FilterDraft.resources + FilterDraft.secrets + FilterDraft.descriptions
        let kinds = Set(effects.compactMap(\.kind))
        let cases = drafts.filter { kinds.isDisjoint(with: $0.assumes) }.map { draft in
            PluginConformanceCase(name: draft.name, limitation: nil, limit: limit) {
                let bench = FilterBench(make: make, secrets: secrets, gracePeriod: gracePeriod)
                if effects.isEmpty, !draft.assumes.isEmpty {
                    let changed = try await bench.changesByTrait()
                    if !changed.isDisjoint(with: draft.assumes) { return }
                }
                try await draft.body(bench)
            }
        }
        let bench = LawBench(
            filters: FilterBench(make: make, secrets: secrets, gracePeriod: gracePeriod), effects: effects)
        let all = laws.rounds > 0 ? FilterLaw.all : []
        return
            (cases
            + all.map { law in
                PluginConformanceCase(name: law.name, limitation: nil, limit: limit) {
                    try await law.search(bench, laws)
                }
            }).excusing(limitations, within: limit)
    }
}

/// A case that isn't bound to a filter yet.
struct FilterDraft: Sendable {
    let name: String
    /// What must stay as it was for the case to make sense.
    let assumes: Set<FilterEffect.Kind>
    let body: @Sendable (FilterBench) async throws -> Void

    init(
        _ name: String, assuming assumes: Set<FilterEffect.Kind> = [],
        _ body: @escaping @Sendable (FilterBench) async throws -> Void
    ) {
        (self.name, self.assumes, self.body) = (name, assumes, body)
    }
}
