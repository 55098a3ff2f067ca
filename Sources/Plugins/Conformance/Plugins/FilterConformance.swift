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
///     for: { MyFilter() }, knownLimitations: [.named("a stream is not read ahead of its reader", because: "it signs the body")])
/// ```
public enum FilterConformance {
    /// Returns the cases for the filters that `make` creates.
    ///
    /// - Parameters:
    ///   - make: Creates a filter, or a group of filters, that doesn't share state with another one.
    ///   - secrets: The filter's own secrets, such as keys and tokens. They must not appear in notes, errors or
    ///     descriptions, or reach another origin. Defaults to an empty list; the cases always check the secrets in
    ///     their requests.
    ///   - limitations: Cases that don't apply, by ``KnownLimitation/named(_:because:)``. They stay in the list.
    ///   - limit: The time after which a case counts as hanging. Defaults to ten minutes.
    ///   - gracePeriod: How long a call's objects may outlive it. Defaults to 30 seconds.
    public static func cases(
        for make: @escaping @Sendable () throws -> any Filter, secrets: [String] = [],
        knownLimitations limitations: [KnownLimitation] = [], within limit: Duration = .seconds(600),
        gracePeriod: Duration = .seconds(30)
    ) -> [PluginConformanceCase] {
        let drafts: [FilterDraft] =
            FilterDraft.messages + FilterDraft.requests + FilterDraft.responses + FilterDraft.bodies
            + FilterDraft.errors + FilterDraft.repeats + FilterDraft.cancellations + FilterDraft.lifetimes
            + FilterDraft.surroundings + FilterDraft.checks + FilterDraft.users + FilterDraft.crowds
            + FilterDraft.resources + FilterDraft.secrets + FilterDraft.descriptions
        return drafts.map { draft in
            PluginConformanceCase(name: draft.name, limitation: nil, limit: limit) {
                try await draft.body(FilterBench(make: make, secrets: secrets, gracePeriod: gracePeriod))
            }
        }.excusing(limitations, within: limit)
    }
}

/// A case that isn't bound to a filter yet.
struct FilterDraft: Sendable {
    let name: String
    let body: @Sendable (FilterBench) async throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (FilterBench) async throws -> Void) {
        (self.name, self.body) = (name, body)
    }
}
