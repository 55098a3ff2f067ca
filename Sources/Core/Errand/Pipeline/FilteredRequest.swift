import ErrandHTTP
import Synchronization

/// Finds what the filters make of a request, without sending it.
struct FilteredRequest {
    let settings: PipelineSettings
    let activity: Activity

    /// Sends the request through the filters that change or sign it, up to a step that keeps it.
    func make(of request: some Request, _ callFilters: [any Filter]) async throws -> HTTPRequest {
        let built = try RequestBuilder(settings).build(request, activity.tags)
        let last = LastStep()
        let steps = FilterChain.make(of: request, callFilters, activity.tags, settings).steps
        let way = steps.reversed().filter { Self.changes($0.filter) }
            .reduce(Next(FilterStep(last, .hop, Next(), isCommon: false))) { way, step in
                Next(FilterStep(step.filter, step.stage, way, isCommon: false))
            }
        _ = try await way(Exchange(request, built, activity, settings))
        let found = last.request ?? built.http
        try found.validate()
        return found
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
        private let found = Mutex<HTTPRequest?>(nil)

        var request: HTTPRequest? { found.withLock { $0 } }

        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
            let before = found.withLock { found in
                defer { found = exchange.http }
                return found
            }
            withExtendedLifetime(before) {}
            return HTTPResponse(url: exchange.http.url, status: 204)
        }
    }
}
