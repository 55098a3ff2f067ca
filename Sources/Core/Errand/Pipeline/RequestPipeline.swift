import ErrandEssentials
import ErrandHTTP

/// Processes a request. ActivityLifecycle.swift handles its activity.
struct RequestPipeline: Sendable {
    let settings: PipelineSettings
    let activity: Activity

    /// Processes a request until its activity ends. Every request takes these steps, including cache hits, downloads,
    /// retries, and stubs in tests:
    ///
    /// 1. ``RequestBuilder`` makes the HTTP request.
    /// 2. ``FilterChain`` passes it through the filters, the ``RedirectStep``, and the ``WireStep`` with the transport.
    /// 3. ``DeliveryStep`` reads the body into memory, or into a file next to the destination.
    /// 4. ``ResponseJudge`` checks the status, the content type, and the request's own checks.
    /// 5. The request decodes the response.
    /// 6. The activity accepts the response. Cancellation comes too late from here on. The file is moved into place.
    /// 7. The activity ends: staged work is committed or discarded, and accessories and the completion are called.
    ///
    /// An error of the first six steps becomes the call's error in ``FailureReport``.
    func run(
        _ request: some Request, filters callFilters: [any Filter], result: ActivityResult,
        completion: (@Sendable (ActivityResult) async -> Void)?
    ) async {
        let received =
            activity.isCancelled
            ? .failure(CancellationError()) : await receive(request, filters: callFilters, result: result)
        await activity.registry.end(activity, received: received, result: result, completion: completion)
    }

    @inline(__always) private func receive(
        _ request: some Request, filters callFilters: [any Filter], result: ActivityResult
    ) async -> Result<HTTPResponse?, any Error> {
        var received: HTTPResponse
        do {
            #if DEBUG
            FilterWarnings.warn(about: request, filters: callFilters, tags: activity.tags, settings: settings)
            #endif
            let exchange = try build(request)

            let next = FilterChain.make(
                for: request, filters: callFilters, tags: activity.tags, settings: settings)
            received = try await next(exchange)
            received.decoder = settings.decoder(of: request)
        } catch {
            return .failure(await report(error, of: request, response: nil))
        }
        return await complete(received, of: request, result: result)
    }

    // Kept out of line, because inlining would enlarge an async frame that lives as long as the request.

    @inline(never) private func complete(
        _ received: HTTPResponse, of request: some Request, result: ActivityResult
    ) async -> Result<HTTPResponse?, any Error> {
        var response = received
        var file: PendingFile?
        defer { file?.discard() }
        do {
            if response.body.data == nil || request.delivery != .data || response.status >= 300 {
                file = try await deliver(response, for: request)
                response = response.delivered(to: file)
            }

            try judge.checkHead(of: response, for: request)
            let checks = judge.checks(of: request, and: activity.ledger.checks)
            if !checks.isEmpty { try await judge.check(response, checks) }

            let value = try await request.decode(response.reopened)

            try activity.accept()
            if let file { try await file.accept() }
            return .success(delivery.store(value, of: response, file, to: result))
        } catch {
            return .failure(await report(error, of: request, response: response))
        }
    }

    private var delivery: DeliveryStep { DeliveryStep(settings: settings) }
    private var judge: ResponseJudge { ResponseJudge(settings: settings) }

    @inline(never) private func deliver(
        _ response: HTTPResponse, for request: some Request
    ) async throws -> PendingFile? {
        if delivery.isToCollect(response, for: request) {
            try await delivery.collect(response)
        } else if delivery.isToMeasure(response, for: request) {
            try response.body.checkLength(upTo: settings.maximumBodyBytes)
        }
        guard let destination = delivery.destination(of: response, for: request) else { return nil }
        try judge.checkHead(of: response, for: request)
        return try await PendingFile(response.body.reopened, for: destination)
    }

    @inline(never) private func report(
        _ error: any Error, of request: some Request, response: HTTPResponse?
    ) async -> any Error {
        await FailureReport(described: request, settings: settings, activity: activity, response: response)
            .complete(error)
    }

    @inline(never) private func build(_ request: some Request) throws -> Exchange {
        #if DEBUG
        ShadowedMembers.warn(about: request, activity)
        #endif
        let built = try RequestBuilder(settings).build(request, activity.tags)
        activity.ledger.willSend(built.http)
        activity.notify(.built(built.http))
        return Exchange(request, built: built, activity: activity, settings: settings)
    }
}
