import ErrandEssentials
import ErrandHTTP

/// The way of a request, from its description to its decoded response. Activities begin and end around it; see
/// ActivityLifecycle.swift.
struct RequestPipeline: Sendable {
    let settings: PipelineSettings
    let activity: Activity

    /// Carries out a request, and ends its activity. Every request goes this way, and only this way: a hit of a cache,
    /// a download, a repeated attempt, a stub in a test.
    func run(
        _ request: some Request, _ callFilters: [any Filter], _ result: ActivityResult,
        _ completion: (@Sendable (ActivityResult) async -> Void)?
    ) async {
        let received =
            activity.isCancelled
            ? .failure(CancellationError()) : await carryOut(request, callFilters, result)
        await activity.registry.end(activity, result, received, completion)
    }

    /// The steps, in their order; puts the output into the result.
    @inline(__always) private func carryOut(
        _ request: some Request, _ callFilters: [any Filter], _ result: ActivityResult
    ) async -> Result<HTTPResponse?, any Error> {
        var response: HTTPResponse?
        var file: PendingFile?
        defer { file?.discard() }
        let (delivery, judge) = (DeliveryStep(settings: settings), ResponseJudge(settings: settings))
        do {
            #if DEBUG
            FilterWarnings.warn(about: request, callFilters, activity.tags, settings)
            #endif
            // Description and configuration become the request on the wire.
            let exchange = try build(request)

            // Call filters, redirects, hop filters, wire; and back.
            let chain = FilterChain.make(of: request, callFilters, activity.tags, settings)
            var received = try await chain(exchange)
            received.decoder = settings.decoder(of: request)
            response = received

            // The body becomes what the request wants it to be: data, a stream or a file.
            if delivery.isToCollect(received, for: request) { try await delivery.collect(received) }
            if let destination = delivery.destination(of: received, for: request) {
                try judge.checkHead(of: received, for: request)
                file = try await PendingFile(received.body.reopened, for: destination)
            }
            received = received.delivered(to: file)
            response = received

            // Status, content type, checks.
            try judge.checkHead(of: received, for: request)
            let checks = judge.checks(of: request, and: activity.ledger.checks)
            if !checks.isEmpty { try await judge.check(received, checks) }

            // Decoding.
            let value = try await request.decode(received.reopened)

            // Accepted: nothing cancels it from here on. What was staged is committed, the file moved to its
            // destination.
            try activity.accept()
            if let file { try await file.accept() }
            if activity.ledger.hasStagedWork { await activity.commitStagedWork() }
            return .success(delivery.store(value, of: received, file, to: result))
        } catch {
            return .failure(await refuse(request, response, error))
        }
    }

    /// Refused: what was staged is discarded. Not in line, where it would enlarge the frame of every request.
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
