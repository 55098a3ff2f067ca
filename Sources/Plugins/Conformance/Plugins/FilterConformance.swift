public import Errand
import ErrandTesting

/// Test cases for a ``Filter``. You can run them with any test framework.
///
/// ```swift
/// @Test(arguments: FilterConformance.cases(for: { MyFilter() }))
/// func conformance(_ each: PluginConformanceCase) async throws { try await each.run() }
/// ```
///
/// Each case creates a filter, and its own agent with an in-memory transport. Most cases run in real time. Therefore,
/// configure the filter so that it waits only for milliseconds, and allows two hundred requests.
///
/// If your filter deviates from a requirement on purpose, excuse the case by its name, with a reason:
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
    ///   - make: Creates a filter, or a group of filters. They must not share state with other filters.
    ///   - effects: The changes that the filter makes on purpose. Cases that don't allow these changes are left out. By
    ///     default, the filter's traits determine the changes.
    ///   - samples: Requests and responses to which the filter reacts, such as a response with the filter's media type,
    ///     or a request to its host. The laws mix these samples into the exchanges that they create at random. Defaults
    ///     to an empty list.
    ///   - secrets: The filter's own secrets, such as keys and tokens. They must not appear in notes, errors, or
    ///     descriptions, and must not reach another origin. The secrets in the cases' own requests are always checked.
    ///     Defaults to an empty list.
    ///   - another: Creates the same filter for another user, for example with another key or tenant. A law then tests
    ///     that a cache doesn't return one user's response to the other. By default, the filter has no user.
    ///   - laws: How thoroughly to test each ``FilterLaw``. Defaults to a hundred rounds, and at most a minute for all
    ///     laws.
    ///   - limitations: Cases that don't apply, created with ``KnownLimitation/named(_:because:)``. They are skipped,
    ///     but stay in the list.
    ///   - limit: The time limit of a case. If a case takes longer, it fails. Defaults to ten minutes.
    ///   - gracePeriod: How long a call's objects may stay in memory after the call. Defaults to 30 seconds.
    public static func cases(
        for make: @escaping @Sendable () throws -> any Filter, effects: [FilterEffect] = [],
        samples: [LawExchange] = [], secrets: [String] = [], another: (@Sendable () throws -> any Filter)? = nil,
        laws: LawOptions = LawOptions(), knownLimitations limitations: [KnownLimitation] = [],
        within limit: Duration = .seconds(600),
        gracePeriod: Duration = .seconds(30)
    ) -> [PluginConformanceCase] {
        let drafts: [FilterDraft] =
            FilterDraft.messages + FilterDraft.requests + FilterDraft.responses + FilterDraft.bodies
            + FilterDraft.errors + FilterDraft.repeats + FilterDraft.cancellations + FilterDraft.lifetimes
            + FilterDraft.surroundings + FilterDraft.checks + FilterDraft.users + FilterDraft.crowds
            + FilterDraft.resources + FilterDraft.secrets + FilterDraft.descriptions
        let filters = FilterBench(
            make: make, secrets: secrets, gracePeriod: gracePeriod,
            mayRespond: effects.contains(where: \.isResponding), repetitions: effects.compactMap(\.repetition),
            knownOrigins: Set(samples.compactMap { LawHome($0)?.origin }))
        let kinds = Set(effects.compactMap(\.kind))
        let cases = drafts.filter { kinds.isDisjoint(with: $0.assumes) }.map { draft in
            PluginConformanceCase(name: draft.name, limitation: nil, limit: limit) {
                if effects.isEmpty, !draft.assumes.isEmpty {
                    let changed = try await filters.changesByTrait()
                    if !changed.isDisjoint(with: draft.assumes) { return }
                }
                try await draft.body(filters)
            }
        }
        let bench = LawBench(filters: filters, effects: effects, another: another, samples: samples)
        let all = laws.rounds > 0 ? FilterLaw.all : []
        let uses = laws.rounds > 0 ? useCase(of: bench, limit) : []
        return
            (cases + uses
            + all.map { law in
                PluginConformanceCase(name: law.name, limitation: nil, limit: limit) {
                    try await law.search(bench, laws)
                }
            }).excusing(limitations, within: limit)
    }
}

struct FilterDraft: Sendable {
    let name: String
    /// The parts of a request or response that the filter must not change in this case. If the filter may change one of
    /// them, the case doesn't apply.
    let assumes: Set<FilterEffect.Kind>
    let body: @Sendable (FilterBench) async throws -> Void

    init(
        _ name: String, assuming assumes: Set<FilterEffect.Kind> = [],
        _ body: @escaping @Sendable (FilterBench) async throws -> Void
    ) {
        (self.name, self.assumes, self.body) = (name, assumes, body)
    }
}
