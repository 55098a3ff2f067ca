public import ErrandHTTP

extension Exchange {
    /// Runs the request's checks on a response early, in a filter that decides about the response, such as a retry.
    /// Throws if the status, the content type or a check fails.
    ///
    /// If the request wants data, a streamed body is collected first, as in ``gatherEvidence(of:)``. If the request
    /// wants a file, the checks are skipped, because they need the finished file.
    public func judge(_ response: HTTPResponse) async throws {
        let judge = ResponseJudge(settings: settings)
        try await gatherEvidence(of: response)
        try judge.checkHead(of: response, for: request)
        if case .file = request.delivery, response.body.file == nil { return }
        let checks = judge.checks(of: request, and: checks.added)
        if !checks.isEmpty { try await judge.check(decodable(response), checks) }
    }

    /// Ends a response that won't be used, in a filter that sends the request again or responds itself. Reads a short
    /// body for up to a second, so the connection can be reused. Otherwise, cancels the transfer. Don't return a
    /// discarded response, because reading its body can then throw `cancelled`.
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
        // The wire step has already read a short body, so this body is long.
        if delivery == .data { return response.body.cancel() }
        await response.body.finish(within: timeout, time: time)
    }

    /// Reads a response's body into memory, so a filter can examine it. All copies of the response then contain the
    /// bytes. Ignored if the request wants a stream or a file.
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
    /// The body is already in memory if the status is below 300, or if it's short and arrived with its head. Otherwise:
    ///
    /// - If the request accepts the status, reads the whole body, at most `maximumBodyBytes`. Throws if that fails.
    /// - If not, reads at most `maximumErrorBodyBytes` for up to a second, and cancels the transfer.
    public func gatherEvidence(of response: HTTPResponse) async throws {
        guard response.body.data == nil, request.delivery == .data else { return }
        let delivery = DeliveryStep(settings: settings)
        if delivery.isToCollect(response, for: request) { return try await delivery.collect(response) }
        if request.acceptableStatuses.contains(response.status) { return }
        await response.body.gatherEvidence(
            within: BodyAllowance(bytes: settings.maximumErrorBodyBytes, timeout: timeout, time: time))
    }

    /// Returns the error that ``Request/outcomeCheck`` throws for a response, or nil if the response passes. Call it in
    /// a filter that stores responses or adds credentials. See ``RequestFailure/refusesCredential``.
    ///
    /// Returns nil without checking if the request doesn't accept the status, or wants a stream or a file. Otherwise,
    /// collects a streamed body first, at most `maximumBodyBytes`. Throws if collecting the body fails or is cancelled.
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

    private func decodable(_ response: HTTPResponse) -> HTTPResponse {
        var response = response
        response.decoder = settings.decoder(of: request)
        return response
    }
}
