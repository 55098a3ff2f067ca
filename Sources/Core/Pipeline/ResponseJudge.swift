import ErrandHTTP

/// Judges a response as its request wants it: status, then content type, then the checks, each once.
struct ResponseJudge {
    let request: any Request
    /// The request's decoder, or the agent's.
    let decoder: any BodyDecoder

    init(_ request: any Request, _ configuration: AgentConfiguration) {
        self.request = request
        decoder = request.decoder ?? configuration.decoder
    }

    /// Throws what is wrong. `added` are the checks of filters; the request's own come first.
    func check(_ response: HTTPResponse, _ added: [ResponseCheck]) async throws {
        try checkHead(of: response)
        for check in request.checks + added { try await check.judge(response.reopened) }
    }

    /// Status and content type.
    func checkHead(of response: HTTPResponse) throws {
        if !request.acceptableStatuses.contains(response.status) {
            let expected = request.acceptableStatuses.description
            throw ErrandError(
                .unacceptableStatus, "status \(response.status), expected \(expected)", response: response)
        }
        let accepted = request.acceptableContentTypes.resolved(by: decoder)
        if accepted != .any, response.body.length != 0, let type = response.mediaType, !accepted.contains(type) {
            throw ErrandError(
                .unacceptableContentType, "content type \(type), expected \(accepted)", response: response)
        }
    }
}
