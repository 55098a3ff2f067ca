import ErrandHTTP
import Synchronization

/// Finds what the filters make of a request, without sending it.
struct FilteredRequest {
    let settings: PipelineSettings
    let activity: Activity

    /// Sends the request through the filters that change or sign it, up to a step that keeps it.
    func make(of request: some Request, _ callFilters: [any Filter]) async throws -> HTTPRequest {
        let found = try await exchange(of: request, callFilters) { filter, _ in Self.changes(filter) }.http
        try found.validate()
        return found
    }

    /// The marks of the user for whom the request would be sent now. Sessions add a credential as it is, expired or not,
    /// and join the pin of the call.
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
        let steps = FilterChain.make(of: request, callFilters, activity.tags, settings).steps
        let way = steps.reversed().filter { isWanted($0.filter, $0.stage) }
            .reduce(Next(FilterStep(last, .hop, Next(), isCommon: false))) { way, step in
                Next(FilterStep(step.filter, step.stage, way, isCommon: false))
            }
        let first = Exchange(request, built, activity, settings)
        _ = try await way(first)
        return last.exchange ?? first
    }

    /// Whether a filter only changes or signs requests; one that stores, repeats, shares or waits for a credential is
    /// left out.
    private static func changes(_ filter: any Filter) -> Bool {
        let traits = filter.traits
        return !traits.isDisjoint(with: [.changesRequest, .signs])
            && traits.isDisjoint(with: [.caches, .retries, .shares, .authenticates])
    }

    /// Stands for the transport.
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
