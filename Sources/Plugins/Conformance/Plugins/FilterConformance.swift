public import Errand
import ErrandTesting

/// The promises of a ``Filter``, as a list of cases for any test framework.
///
/// ```swift
/// @Test(arguments: FilterConformance.cases(for: { MyFilter() }))
/// func conformance(_ each: PluginConformanceCase) async throws { try await each.run() }
/// ```
///
/// Each case makes a filter and puts it into an agent of its own, over a transport in memory that the case scripts.
/// Time is the system's: make the filter so that it waits for milliseconds, and lets two hundred requests pass.
/// Intended deviations of a filter are excused by the name of the case, with a reason:
///
/// ```swift
/// FilterConformance.cases(
///     for: { MyFilter() }, excusing: [.named("a stream is not read ahead of its reader", because: "it signs the body")])
/// ```
public enum FilterConformance {
    /// The cases for the filters that `make` makes.
    ///
    /// - Parameters:
    ///   - make: makes a filter, or a group of filters, that shares no state with another.
    ///   - secrets: values that the filter holds and must not reveal, such as a key or a token: they appear in no note,
    ///     error or description, and are not sent to another origin. None by default; the secrets of the requests that
    ///     the cases send are always searched for.
    ///   - excuses: the promises that it does not make, by ``ConformanceExcuse/named(_:because:)``; excused cases are
    ///     in the list too, with the reason.
    ///   - limit: the time after which a case counts as hanging; ten minutes by default.
    ///   - gracePeriod: the time for which objects of a call may exist after it; 30 seconds by default.
    public static func cases(
        for make: @escaping @Sendable () throws -> any Filter, secrets: [String] = [],
        excusing excuses: [ConformanceExcuse] = [], within limit: Duration = .seconds(600),
        gracePeriod: Duration = .seconds(30)
    ) -> [PluginConformanceCase] {
        let drafts: [FilterDraft] =
            FilterDraft.messages + FilterDraft.requests + FilterDraft.responses + FilterDraft.bodies
            + FilterDraft.errors + FilterDraft.repeats + FilterDraft.cancellations + FilterDraft.lifetimes
            + FilterDraft.surroundings + FilterDraft.checks + FilterDraft.users + FilterDraft.crowds
            + FilterDraft.resources + FilterDraft.secrets + FilterDraft.descriptions
        return drafts.map { draft in
            PluginConformanceCase(name: draft.name, excuse: nil, limit: limit) {
                try await draft.body(FilterBench(make: make, secrets: secrets, gracePeriod: gracePeriod))
            }
        }.excusing(excuses, within: limit)
    }
}

/// A case before it is bound to a filter.
struct FilterDraft: Sendable {
    let name: String
    let body: @Sendable (FilterBench) async throws -> Void

    init(_ name: String, _ body: @escaping @Sendable (FilterBench) async throws -> Void) {
        (self.name, self.body) = (name, body)
    }
}
