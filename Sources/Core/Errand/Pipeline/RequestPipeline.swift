import ErrandEssentials
import ErrandHTTP

/// Processes a request. ActivityLifecycle.swift handles its activity.
struct RequestPipeline: Sendable {
    let settings: PipelineSettings
    let activity: Activity

    /// Passes a request through the filters and the transport. Every request takes this path, including cache hits,
    /// downloads, retries, and stubs in tests.
    func run(
        _ request: some Request, _ callFilters: [any Filter], _ result: ActivityResult,
        _ completion: (@Sendable (ActivityResult) async -> Void)?
    ) async {
        let received =
            activity.isCancelled
            ? .failure(CancellationError()) : await carryOut(request, callFilters, result)
        await activity.registry.end(activity, result, received, completion)
    }

    @inline(__always) private func carryOut(
        _ request: some Request, _ callFilters: [any Filter], _ result: ActivityResult
    ) async -> Result<HTTPResponse?, any Error> {
        var received: HTTPResponse
        do {
            #if DEBUG
            FilterWarnings.warn(about: request, callFilters, activity.tags, settings)
            #endif
            let exchange = try build(request)

            received = try await FilterChain.make(of: request, callFilters, activity.tags, settings)(exchange)
            received.decoder = settings.decoder(of: request)
        } catch {
            return .failure(await refuse(request, nil, error))
        }
        return await complete(received, of: request, result)
    }

    // Kept out of line, because inlining would enlarge an async frame that lives as long as the request.

    @inline(never) private func complete(
        _ received: HTTPResponse, of request: some Request, _ result: ActivityResult
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
            if file != nil || activity.ledger.hasStagedWork { try await accept(file) }
            return .success(delivery.store(value, of: response, file, to: result))
        } catch {
            return .failure(await refuse(request, response, error))
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

    @inline(never) private func accept(_ file: PendingFile?) async throws {
        if let file { try await file.accept() }
        if activity.ledger.hasStagedWork { await activity.commitStagedWork() }
    }

    @inline(never) private func refuse(
        _ request: some Request, _ response: HTTPResponse?, _ error: any Error
    ) async -> any Error {
        if activity.ledger.hasStagedWork { await activity.discardStagedWork() }
        return await FailureReport(described: request, settings: settings, activity: activity, response: response)
            .complete(error)
    }

    @inline(never) private func build(_ request: some Request) throws -> Exchange {
        #if DEBUG
        ShadowedMembers.warn(about: request, activity)
        #endif
        let built = try RequestBuilder(settings).build(request, activity.tags)
        activity.ledger.willSend(built.http)
        activity.notify(.built(built.http))
        return Exchange(request, built, activity, settings)
    }
}
