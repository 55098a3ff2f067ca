import ErrandHTTP

import ErrandEssentials

/// The way of a request, from its description to its decoded response. Activities begin and end around it; see
/// ActivityLifecycle.swift.
struct RequestPipeline: Sendable {
    let settings: PipelineSettings
    let activity: Activity

    /// Carries out a request, and ends its activity. Every request goes this way, and only this way: a hit of a cache, a
    /// download, a repeated attempt, a stub in a test.
    func run(
        _ request: some Request, _ callFilters: [any Filter], _ result: ActivityResult,
        _ completion: (@Sendable (ActivityResult) async -> Void)?
    ) async {
        let brought =
            activity.isCancelled
            ? .failure(CancellationError()) : await carryOut(request, callFilters, result)
        await activity.registry.end(activity, result, brought, completion)
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
            // Description and configuration become the request on the wire.
            let exchange = try build(request)

            // Call filters, redirects, hop filters, wire; and back.
            let chain = Self.chain(of: request, callFilters, activity.tags, settings)
            var received = try await chain(exchange)
            received.decoder = settings.decoder(of: request)
            response = received

            // The body becomes what the request wants it to be: data, a stream or a file.
            if delivery.isToCollect(received, for: request) { try await delivery.collect(received) }
            if let place = delivery.filePlace(of: received, for: request) {
                try judge.checkHead(of: received, for: request)
                file = try await PendingFile(received.body.reopened, for: place)
            }
            received = received.delivered(to: file)
            response = received

            // Status, content type, checks.
            try judge.checkHead(of: received, for: request)
            let checks = judge.checks(of: request, and: activity.checks)
            if !checks.isEmpty { try await judge.check(received, checks) }

            // Decoding.
            let value = try await request.decode(received.reopened)

            // Accepted: nothing cancels it from here on. What was staged is committed, the file moved to its place.
            try activity.accept()
            if let file { try await file.accept() }
            if activity.hasStagedWork { await activity.commit() }
            return .success(delivery.hand(value, of: received, file, to: result))
        } catch {
            return .failure(await refuse(request, response, error))
        }
    }

    /// Refused: what was staged is discarded. Not in line, where it would enlarge the frame of every request.
    @inline(never) private func refuse(
        _ request: some Request, _ response: HTTPResponse?, _ error: any Error
    ) async -> any Error {
        if activity.hasStagedWork { await activity.discard() }
        return await FailureReport(described: request, settings: settings, activity: activity, response: response)
            .explain(error)
    }

    @inline(never) private func build(_ request: some Request) throws -> Exchange {
        #if DEBUG
        ShadowedMembers.warn(about: request, activity)
        #endif
        let built = try RequestBuilder(settings).build(request, activity.tags)
        activity.willSend(built.http)
        activity.notify(.built(built.http))
        return Exchange(request, built, activity, settings)
    }

    /// All that a request passes, in order.
    ///
    /// - Parameter sparesIdleFilters: whether to leave out what the request or a tag brings and the agent has: such a filter
    ///   leaves the work to the outer one, and passes the call on.
    static func chain(
        of request: any Request, _ callFilters: [any Filter], _ tags: Tags, _ settings: PipelineSettings,
        sparesIdleFilters: Bool = false
    ) -> Next {
        // Looking at the type costs less than casting the request.
        let isProviding = type(of: request) is any FilterProvidingRequest.Type
        var required = isProviding ? (request as? any FilterProvidingRequest)?.requiredFilters ?? [] : []
        let filters = request.filters
        if required.isEmpty, filters.isEmpty, callFilters.isEmpty, tags.isEmpty { return settings.chain }
        var tagged = tags.values.flatMap { ($0 as? any FilterProvidingTag)?.requiredFilters ?? [] }
        if sparesIdleFilters {
            let isIdle = { (own: any Filter) in settings.filters.contains { type(of: $0) == type(of: own) } }
            (required, tagged) = (required.filter { !isIdle($0) }, tagged.filter { !isIdle($0) })
        }
        let own = required + filters + callFilters + tagged
        if own.isEmpty { return settings.chain }
        return chain(settings.filters, own.ungrouped(), settings.transport, standard: settings.chain)
    }

    /// The steps of the agent's filters, and of those that a request, its call or its tags bring; without groups.
    static func chain(
        _ filters: [any Filter], _ own: [any Filter], _ transport: any Transport, standard: Next? = nil
    ) -> Next {
        var (steps, ownEnd): ([any Filter], Int) = ([], 0)
        func add(_ stage: FilterStages) {
            steps += filters.filter { $0.stages.contains(stage) }
            let added = own.filter { $0.stages.contains(stage) }
            steps += added
            if !added.isEmpty { ownEnd = steps.count }
        }
        add(.call)
        steps.append(RedirectStep())
        add(.hop)
        if (filters + own).contains(where: { $0.stages.contains(.wire) }) { steps.append(WireStageStep()) }
        add(.wire)
        steps.append(WireStep(transport))
        // Behind the last step of the call's own, its way is that of every request.
        var (way, common) = (Next(), standard?.steps ?? [])
        for (index, step) in steps.enumerated().reversed() {
            let shared = index < ownEnd ? nil : common.popLast()
            way = Next(shared ?? FilterStep(step, way, isCommon: standard == nil))
        }
        return way
    }
}
