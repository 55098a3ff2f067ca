import ErrandHTTP
import Synchronization

/// Determines how filters change a request, without sending it.
struct FilteredRequest {
    let settings: PipelineSettings
    let activity: Activity

    func make(of request: some Request, _ callFilters: [any Filter]) async throws -> HTTPRequest {
        let found = try await exchange(of: request, callFilters) { filter, _ in Self.changes(filter) }.http
        try found.validate()
        return found
    }

    /// Sessions add their credential even if it has expired, and join the call's ``UserPin``.
    func userMarks(of request: some Request, _ callFilters: [any Filter]) async throws -> Set<UserMark> {
        let found = try await exchange(of: request, callFilters) { filter, stage in
            Self.changes(filter) || filter.traits.contains(.addsCookies)
                || filter.traits.contains(.authenticates) && stage == .call
        }
        found.userPin?.keepsSessions()
        return UserPin.marks(of: found)
    }

    private func exchange(
        of request: some Request, _ callFilters: [any Filter], where isWanted: (any Filter, FilterStages) -> Bool
    ) async throws -> Exchange {
        let built = try RequestBuilder(settings).build(request, activity.tags)
        let last = LastStep()
        let steps = FilterChain.make(for: request, filters: callFilters, tags: activity.tags, settings: settings).steps
        let chain = steps.reversed().filter { isWanted($0.filter, $0.stage) }
            .reduce(Next(FilterStep(last, at: .hop, before: Next(), isCommon: false))) { next, step in
                Next(FilterStep(step.filter, at: step.stage, before: next, isCommon: false))
            }
        let first = Exchange(request, built: built, activity: activity, settings: settings)
        _ = try await chain(first)
        return last.exchange ?? first
    }

    private static func changes(_ filter: any Filter) -> Bool {
        let traits = filter.traits
        return !traits.isDisjoint(with: [.changesRequest, .signs])
            && traits.isDisjoint(with: [.caches, .retries, .shares, .authenticates])
    }

    private final class LastStep: CoreStep {
        private let found = Mutex<Exchange?>(nil)

        var exchange: Exchange? { found.withLock { $0 } }

        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
            let before = found.withLock { found in
                defer { found = exchange }
                return found
            }
            withExtendedLifetime(before) {}
            return HTTPResponse(url: exchange.http.url, status: 204)
        }
    }
}
