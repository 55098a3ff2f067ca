import ErrandHTTP

/// Judges a response as its request wants it: status, then content type, then the checks, each once.
struct ResponseJudge {
    let request: any Request
    let settings: PipelineSettings

    init(_ request: any Request, _ settings: PipelineSettings) {
        self.request = request
        self.settings = settings
    }

    /// The request's decoder, or the agent's.
    var decoder: any BodyDecoder { request.decoder ?? settings.configuration.decoder }

    /// The request's checks, then those that filters have added.
    func checks(and added: [ResponseCheck]) -> [ResponseCheck] {
        added.isEmpty ? request.checks : request.checks + added
    }

    /// Throws what is wrong, in the order of the checks.
    func check(_ response: HTTPResponse, _ checks: [ResponseCheck]) async throws {
        for check in checks { try await check.judge(response.reopened) }
    }

    /// Status and content type.
    func checkHead(of response: HTTPResponse) throws {
        let statuses = request.acceptableStatuses
        if !statuses.contains(response.status) {
            throw ErrandError(
                .unacceptableStatus, "status \(response.status), expected \(statuses)", response: response)
        }
        var accepted = request.acceptableContentTypes
        if accepted == .any { return }
        accepted = accepted.resolved(by: decoder)
        if accepted != .any, response.body.length != 0, let type = response.mediaType, !accepted.contains(type) {
            throw ErrandError(
                .unacceptableContentType, "content type \(type), expected \(accepted)", response: response)
        }
    }
}
