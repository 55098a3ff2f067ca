import ErrandSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
        var file: PendingFile?
        defer { file?.discard() }
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
            try await collect(answer, for: request)
            if let data = answer.body.data, answer.body.reader != nil { answer.body = HTTPBody(data) }
            if let place = filePlace(of: answer, for: request) {
                try judgeHead(answer, request)
                let pending = try await PendingFile(answer.body.reopened, for: place)
                file = pending
                answer.body = pending.body
            }
            response = answer
            try await judge(answer, request, checks: request.checks + activity.checks)
            var decoded = answer
            decoded.body = answer.body.reopened
            let value = try await request.decode(decoded)
            guard let pending = file else { return Response(value: value, http: answer) }
            guard activity.accept() else { throw CancellationError() }
            try await pending.accept()
            answer.body = HTTPBody(file: pending.place, length: pending.length)
            return Response(value: pending.placed(value), http: answer)
        } catch {
            throw await explained(error, built, response, request, activity)
        }
    }

    /// Brings a streamed body into memory where the request wants it there, whatever a filter has made of it. Every copy of
    /// the response has the bytes then. A refused status is left to the evidence of its error.
    func collect(_ response: HTTPResponse, for request: any Request) async throws {
        guard request.delivery == .data, request.acceptableStatuses.contains(response.status),
            response.body.data == nil, response.body.file == nil || !request.isForFile
        else { return }
        try await response.body.gather(upTo: configuration.maximumBodyBytes)
    }

    /// Where the body of a response is to be written; nil if it stays what it is.
    private func filePlace(of response: HTTPResponse, for request: some Request) -> URL? {
        guard case .file(let place) = request.delivery, response.body.file?.path != place.path,
            request.acceptableStatuses.contains(response.status)
        else { return nil }
        return place
    }

    /// Status, then content type, then the checks, each once.
    func judge(_ response: HTTPResponse, _ request: any Request, checks: [ResponseCheck]) async throws {
        try judgeHead(response, request)
        for check in checks {
            var judged = response
            judged.body = response.body.reopened
            try await check.judge(judged)
        }
    }

    private func judgeHead(_ response: HTTPResponse, _ request: any Request) throws {
        if !request.acceptableStatuses.contains(response.status) {
            let wanted = request.acceptableStatuses.description
            throw ErrandError(.unacceptableStatus, "status \(response.status), expected \(wanted)", response: response)
        }
        let accepted = request.acceptableContentTypes.resolved(by: request.decoder ?? configuration.decoder)
        if accepted != .any, response.body.length != 0, let type = response.mediaType, !accepted.contains(type) {
            throw ErrandError(
                .unacceptableContentType, "content type \(type), expected \(accepted)", response: response)
        }
    }

    /// An error with its evidence, passed through the agent's mapping and then the request's.
    private func explained(
        _ error: any Error, _ built: HTTPRequest?, _ response: HTTPResponse?, _ request: some Request,
        _ activity: Activity
    ) async -> any Error {
        var error = error
        if var known = error as? ErrandError {
            known.activity = known.activity ?? activity.id
            known.request = known.request ?? activity.lastSent ?? built
            let allowance = BodyAllowance(
                bytes: configuration.maximumErrorBodyBytes, timeout: request.timeout ?? configuration.timeout,
                time: activity.registry.time)
            known.response = await (known.response ?? response)?.bounded(by: allowance)
            error = known
        }
        return error.isCancellation ? error : request.mapError(configuration.mapError(error))
    }
}

extension Request {
    /// Whether the output is a file's place, whatever writes the file.
    fileprivate var isForFile: Bool { Output.self == URL.self || Output.self == URL?.self }
}
