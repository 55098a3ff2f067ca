public import ErrandHTTP

extension Exchange {
    /// Judges a response as Core will in the end: status, content type, checks; throws what is wrong. For a filter that
    /// has to know before, such as one that retries.
    ///
    /// If the request wants its body as data, a stream is collected for that first, as by ``gatherEvidence(of:)``. If it
    /// wants a file, the checks are left out, since they judge the file once that is written.
    public func judge(_ response: HTTPResponse) async throws {
        let judge = ResponseJudge(settings: settings)
        try await gatherEvidence(of: response)
        try judge.checkHead(of: response, for: request)
        if case .file = request.delivery, response.body.file == nil { return }
        let checks = judge.checks(of: request, and: checks.added)
        if !checks.isEmpty { try await judge.check(decodable(response), checks) }
    }

    /// Ends a response that is not used, for a filter that sends the request again or responds by itself: a short body is
    /// read, within a second, so that its connection can be reused; the transfer of any other is cancelled.
    ///
    /// ```swift
    /// struct TwiceAtMost: Filter {
    ///     func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
    ///         let first = try await next(exchange)
    ///         if first.status != 503 { return first }
    ///         await exchange.discard(first)
    ///         return try await next(exchange)
    ///     }
    /// }
    /// ```
    public func discard(_ response: HTTPResponse) async {
        if response.body.data != nil { return }
        // Of a body that is wanted as data the wire step has read what was short and there.
        if delivery == .data { return response.body.cancel() }
        await response.body.finish(within: timeout, time: time)
    }

    /// Reads the body of a response for a filter that has to look at it before the response is the last: every copy of
    /// the response then has the bytes in memory. Does nothing if the request wants its body as a stream or in a file.
    ///
    /// ```swift
    /// struct LockedAccounts: Filter {
    ///     func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
    ///         let response = try await next(exchange)
    ///         if response.status != 403 { return response }
    ///         try await exchange.gatherEvidence(of: response)
    ///         if try response.text().contains("locked") { throw Closed() }
    ///         return response
    ///     }
    /// }
    /// ```
    ///
    /// The body of a status below 300 is in memory anyway, and so is a short one of any status that has arrived with its
    /// head. Any other is read here: all of it if the request accepts the status, at most `maximumBodyBytes`; else as
    /// much as an error keeps of it, `maximumErrorBodyBytes` and what arrives within a second, and the rest is cancelled.
    /// Throws the error of reading an accepted body.
    public func gatherEvidence(of response: HTTPResponse) async throws {
        guard response.body.data == nil, request.delivery == .data else { return }
        let delivery = DeliveryStep(settings: settings)
        if delivery.isToCollect(response, for: request) { return try await delivery.collect(response) }
        if request.acceptableStatuses.contains(response.status) { return }
        await response.body.gatherEvidence(
            within: BodyAllowance(bytes: settings.maximumErrorBodyBytes, timeout: timeout, time: time))
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
