import ErrandHTTP

/// Checks the status, the content type, then each check once.
struct ResponseJudge {
    let settings: PipelineSettings

    func checks(of request: some Request, and added: [ResponseCheck]) -> [ResponseCheck] {
        let checks = added.isEmpty ? request.checks : request.checks + added
        guard let outcome = request.outcomeCheck else { return checks }
        return [outcome] + checks
    }

    func check(_ response: HTTPResponse, _ checks: [ResponseCheck]) async throws {
        for check in checks { try await check.judge(response.reopened) }
    }

    @inline(never) func checkHead(of response: HTTPResponse, for request: some Request) throws {
        let statuses = request.acceptableStatuses
        if !statuses.contains(response.status), response.connection == nil {
            throw ErrandError(
                .unacceptableStatus, "status \(response.status), expected \(statuses)", response: response)
        }
        var accepted = request.acceptableContentTypes
        if accepted == .any { return }
        accepted = accepted.resolved(by: settings.decoder(of: request))
        if accepted != .any, response.body.length != 0, let type = response.mediaType, !accepted.contains(type) {
            throw ErrandError(
                .unacceptableContentType, "expected content type \(accepted), got \(type)", response: response)
        }
    }
}
