public import ErrandHTTP

extension Exchange {
    /// Judges a response as Core will in the end: status, content type, checks; throws what is wrong. For a filter that
    /// has to know before, such as one that retries.
    ///
    /// Where the request wants its body as data, a stream of an acceptable status is collected for that first, at most
    /// `maximumBodyBytes` of it; every copy of the response then has the bytes. Where it wants a file, the checks are
    /// left out, since they judge the file once that is written.
    public func judge(_ response: HTTPResponse) async throws {
        let (delivery, judge) = (DeliveryStep(settings: settings), ResponseJudge(settings: settings))
        if delivery.isToCollect(response, for: request) { try await delivery.collect(response) }
        try judge.checkHead(of: response, for: request)
        if case .file = request.delivery, response.body.file == nil { return }
        let checks = judge.checks(of: request, and: checks.added)
        if !checks.isEmpty { try await judge.check(decodable(response), checks) }
    }

    /// The error that the request's ``Request/outcomeCheck`` throws for a response; nil where it passes, and where the
    /// request has none. For a filter that stores responses, or that adds credentials: see
    /// ``RequestFailure/refusesCredential``.
    ///
    /// A response of a status that the request does not accept is not looked at, nor is one that the request wants as a
    /// stream or in a file. A body that comes as a stream, such as from a cache, is collected, at most
    /// `maximumBodyBytes` of it. Throws the error of doing that, and a cancellation.
    public func outcomeFailure(of response: HTTPResponse) async throws -> (any Error)? {
        guard let check = request.outcomeCheck, request.delivery == .data,
            request.acceptableStatuses.contains(response.status)
        else { return nil }
        let delivery = DeliveryStep(settings: settings)
        if delivery.isToCollect(response, for: request) { try await delivery.collect(response) }
        do { try await check.judge(decodable(response)) } catch {
            if error.isCancellation { throw error }
            return error
        }
        return nil
    }

    /// The response as Core gives it to checks, with the decoder of the request.
    private func decodable(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        response.decoder = settings.decoder(of: request)
        return response
    }
}
