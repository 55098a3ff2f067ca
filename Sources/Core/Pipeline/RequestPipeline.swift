import ErrandHTTP
import ErrandEssentials

/// The way of a request, from its description to its decoded response. Activities begin and end around it; see
/// `ActivityRegistry.launch`.
struct RequestPipeline: Sendable {
    let settings: PipelineSettings
    let activity: Activity

    /// Carries out a request, step by step. Every request goes this way, and only this way: a hit of a cache, a download, a
    /// repeated attempt, a stub in a test.
    func run<R: Request>(_ request: R, callFilters: [any Filter]) async throws -> Response<R.Output> {
        #if DEBUG
        ShadowedMembers.warn(about: request, activity)
        #endif
        let judge = ResponseJudge(request, settings.configuration)
        let delivery = DeliveryStep(request, settings.configuration)
        var report = FailureReport(request, settings.configuration, activity)
        var file: PendingFile?
        defer { file?.discard() }
        do {
            // Description and configuration become the request on the wire.
            let built = try RequestBuilder(settings).build(request)
            report.request = built.http
            activity.willSend(built.http)
            activity.notify(.built(built.http))

            // Call filters, redirects, hop filters, wire; and back.
            let chain = FilterChain(Self.steps(of: request, callFilters, activity.tags, settings))
            var response = try await chain.send(Exchange(request, built, activity, settings))
            response.decoder = judge.decoder
            report.response = response

            // The body becomes what the request wants it to be: data, a stream or a file.
            try await delivery.collect(response)
            response = response.inMemory
            if let place = delivery.filePlace(of: response) {
                try judge.checkHead(of: response)
                file = try await PendingFile(response.body.reopened, for: place)
                response.body = file?.body ?? response.body
            }
            report.response = response

            // Status, content type, checks.
            try await judge.check(response, activity.checks)

            // Decoding.
            let value = try await request.decode(response.reopened)

            // Accepted: nothing cancels it from here on. What was staged is committed, the file moved to its place.
            try await activity.commit { [file] in try await file?.accept() }
            guard let file else { return Response(value: value, http: response) }
            response.body = HTTPBody(file: file.place, length: file.length)
            return Response(value: file.placed(value), http: response)
        } catch {
            // Refused: what was staged is discarded.
            await activity.discard()
            throw await report.explain(error)
        }
    }

    /// All that a request passes, in order.
    static func steps(
        of request: any Request, _ callFilters: [any Filter], _ tags: Tags, _ settings: PipelineSettings
    ) -> [any Filter] {
        let required = (request as? any FilterProvidingRequest)?.requiredFilters ?? []
        let tagged = tags.values.flatMap { ($0 as? any FilterProvidingTag)?.requiredFilters ?? [] }
        let own = required + request.filters + callFilters + tagged
        return own.isEmpty ? settings.steps : steps(settings.filters + own.ungrouped(), settings.transport)
    }

    /// The steps of filters without groups.
    static func steps(_ filters: [any Filter], _ transport: any Transport) -> [any Filter] {
        var steps = filters.filter { $0.stages.contains(.call) }
        steps.append(RedirectStep())
        steps += filters.filter { $0.stages.contains(.hop) }
        let wire = filters.filter { $0.stages.contains(.wire) }
        if !wire.isEmpty { steps.append(WireStageStep()) }
        steps += wire
        steps.append(WireStep(transport: transport))
        return steps
    }
}
