import ErrandSupport

/// A configuration made ready: parsed once, then used by every start until the next change.
final class AgentSettings: Sendable {
    let configuration: NetworkAgent.Configuration
    let base: Result<BaseURL, any Error>
    let cdn: Result<BaseURL, any Error>
    private let chain: FilterChain

    init(_ configuration: NetworkAgent.Configuration, transport: any Transport) {
        self.configuration = configuration
        base = Result { try BaseURL(configuration.baseURL) }
        cdn = Result { try BaseURL(configuration.cdnURL ?? "") }
        chain = FilterChain(configuration.filters, transport: transport)
    }

    /// The way of a request from its description to its decoded answer.
    func carryOut<R: Request>(
        _ request: R, _ activity: Activity, callFilters: [any Filter] = []
    ) async throws -> Response<R.Output> {
        var built: HTTPRequest?
        var response: HTTPResponse?
        do {
            let made = try build(request)
            let http = made.http
            built = http
            activity.willSend(http)
            activity.tell(.built(http))
            let exchange = Exchange(
                Exchange.Fields(
                    request: request, http: http, delivery: request.delivery,
                    timeout: request.timeout ?? configuration.timeout, priority: request.priority ?? .medium,
                    tags: activity.tags, activity: activity, settings: self, trust: made.trust))
            let required = (request as? any FilterProvidingRequest)?.requiredFilters ?? []
            let own = required + request.filters + callFilters + activity.tags.filters
            let chain =
                own.isEmpty
                ? chain : FilterChain(configuration.filters + own, transport: chain.transport)
            var answer = try await Next(chain, 0)(exchange)
            answer.decoder = request.decoder ?? configuration.decoder
            response = answer
            if case .file(let url) = request.delivery, answer.body.file == nil,
                request.acceptableStatuses.contains(answer.status)
            {
                answer.body = try await answer.body.written(to: url)
            }
            try await judge(answer, request, checks: request.checks + activity.checks)
            return Response(value: try await request.decode(answer), http: answer)
        } catch {
            throw await explained(error, built, response, request, activity)
        }
    }

    /// Status, then content type, then the checks, each once.
    func judge(_ response: HTTPResponse, _ request: any Request, checks: [ResponseCheck]) async throws {
        if !request.acceptableStatuses.contains(response.status) {
            let wanted = request.acceptableStatuses.description
            throw ErrandError(.unacceptableStatus, "status \(response.status), expected \(wanted)", response: response)
        }
        let accepted = request.acceptableContentTypes.resolved(by: request.decoder ?? configuration.decoder)
        if accepted != .any, response.body.length != 0, let type = response.mediaType, !accepted.contains(type) {
            throw ErrandError(
                .unacceptableContentType, "content type \(type), expected \(accepted)", response: response)
        }
        for check in checks { try await check.judge(response) }
    }

    /// An error with its evidence, passed through the agent's mapping and then the request's.
    private func explained(
        _ error: any Error, _ built: HTTPRequest?, _ response: HTTPResponse?, _ request: some Request,
        _ activity: Activity
    ) async -> any Error {
        var error = error
        if var known = error as? ErrandError {
            known.request = known.request ?? activity.lastSent ?? built
            known.response = await (known.response ?? response)?.bounded(to: configuration.maximumErrorBodyBytes)
            error = known
        }
        return error.isCancellation ? error : request.mapError(configuration.mapError(error))
    }
}
