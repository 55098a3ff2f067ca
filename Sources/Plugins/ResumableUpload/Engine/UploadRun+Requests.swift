import Errand
import ErrandEssentials
import ErrandHTTPFields
import ErrandSupport
import ErrandTransfers
import Synchronization

extension UploadRun {
    @concurrent func step(_ state: inout State) async throws -> Outcome {
        guard let server = state.server, !state.mustShowUser else { return try await ask(&state) }
        let plan = UploadPlan(
            total: state.source.length, maximumRequestBytes: options.maximumRequestBytes,
            metadata: order.request.uploadMetadata, beginsEmpty: state.beginsEmpty,
            heldBack: heldBack(state, server), isSegment: segment != nil, server: server)
        if let total = plan.total, let maximum = server.limits.maximumBytes, total > maximum {
            throw TransferError(.tooLarge, "the server accepts at most \(maximum) bytes, but the body has \(total)")
        }
        if let segments = state.segments { return try await step(&state, ledger: segments, server: server) }
        guard let resource = state.resource else {
            return divides(&state, server) ? .continues : try await create(&state, plan)
        }
        guard let offset = state.offset else { return try await inquire(&state, plan: plan, resource: resource) }
        if offset > 0, !state.source.opensAtOffset {
            return .startsOver(
                "the server has the first \(offset) bytes, but this body can only be read from the start")
        }
        return try await append(&state, plan: plan, resource: resource, part: plan.part(at: offset))
    }

    /// Returns the bytes to exclude from a creating request, if the request must not be repeated. A body that can't be
    /// opened at an offset has to be sent in a single request. With the draft protocol, that is the creating request.
    /// It isn't repeated if a server may have received all of it.
    private func heldBack(_ state: State, _ server: UploadServer) -> UploadPlan.HeldBack {
        if isRepeatable { return .nothing }
        if state.source.opensAtOffset { return .lastByte }
        return server.uploadProtocol == .tus ? .everything : .nothing
    }

    private func ask(_ state: inout State) async throws -> Outcome {
        tally.set(.connecting)
        let message = UploadMessage(method: .options, headers: [UploadFields.version: "8"])
        // Only the head of the response is needed, so a slow or broken body doesn't matter.
        var request = exchange(for: message)
        request.delivery = .stream
        let response = try await send(request, canPause: true)
        if UploadRetries.isTemporary(response) { return .refused(response) }
        await exchange.discard(response)
        if state.mustShowUser {
            state.mustShowUser = false
            return .continues
        }
        let server = UploadServer(offering: response.headers, chosen: options.uploadProtocol)
        if server.uploadProtocol == .tus, state.source.length == nil {
            throw TransferError(.invalidRequest, "uploads with tus need a body of known length")
        }
        state.server = server
        return .continues
    }

    private func create(_ state: inout State, _ plan: UploadPlan) async throws -> Outcome {
        let dialect = plan.server.dialect
        var digest: [UInt8]?
        if options.sendsDigest, plan.server.uploadProtocol != .tus, state.source.opensAtOffset {
            digest = try await digestOfBody(state.source)
        }
        let message = dialect.creation(plan, method: exchange.http.method, digest: digest)
        var creation = exchange(for: message, isCreation: segment == nil)
        let findings = CreationFindings(state)
        creation.observeTransport { event in
            if case .informational(let status, let headers) = event {
                interim(status, headers: headers, findings: findings)
            }
        }
        let count = SentBytes()
        if let part = message.part { try load(&creation, from: state.source, part, counting: count) }
        tally.begin(at: 0, of: state.source.length)
        let response: HTTPResponse
        do { response = try await send(creation, canPause: false, findings) } catch {
            state.hasSent = state.hasSent || message.part != nil
            (state.server, state.resource) = (findings.server, findings.resource)
            // An empty upload is complete as soon as it's created.
            let isWhole = message.part.map { $0.isLast && count.isWhole($0) } ?? (plan.total == 0)
            let mayBeDone = isWhole && findings.resource == nil
            if findings.resource == nil, findings.server?.isConfirmed == true { state.beginsEmpty = true }
            if mayBeDone, !isRepeatable, !error.reachedNoServer { state.mayRepeat = false }
            throw error
        }
        state.hasSent = state.hasSent || message.part != nil
        (state.server, state.resource) = (findings.server, findings.resource)
        let wasFound = state.resource != nil
        let verdict = dialect.verdict(onCreation: response, plan, part: message.part)
        if dialect.namesUpload(response), let url = response.location {
            guard isAcceptable(url) else {
                throw TransferError(
                    .unusableResponse, "the server named an http URL for an upload that began over https")
            }
            if let segment, !UploadConcat.fits(url, among: segment.ledger.segments.count) {
                await terminate([UploadResource(url: url)], on: plan.server)
                throw PlaceTooLong()
            }
            state.resource = UploadResource(url: url)
        }
        state.learn(response.headers, exchange.time.date)
        switch verdict {
        case .complete:
            let knows =
                segment != nil || wasFound || dialect.namesUpload(response)
                || response.headers.contains(UploadFields.complete)
            if !knows { order.report(.ordinary) }
            return .complete(named(response, state))
        case .refused where state.resource == nil:
            if message.part?.isLast == true, !isRepeatable { state.mayRepeat = false }
            return .refused(response)
        case .has where state.resource == nil:
            throw TransferError(.unusableResponse, "the server created an upload without returning its URL")
        default: return try took(verdict, response, in: &state, part: message.part)
        }
    }

    private func inquire(_ state: inout State, plan: UploadPlan, resource: UploadResource) async throws -> Outcome {
        tally.set(.connecting)
        let dialect = plan.server.dialect
        let response = try await send(exchange(for: dialect.inquiry(), at: resource.url), canPause: true)
        state.learn(response.headers, exchange.time.date)
        let verdict = dialect.verdict(onInquiry: response, plan)
        if case .complete = verdict {
            if segment == nil { order.report(.completedEarlier) }
            return .complete(named(response, state))
        }
        if case .refused = verdict, Self.refusesPlace(response) {
            response.body.cancel()
            // Later requests to this URL would be refused too, so the upload starts over.
            let status = ReasonPhrase.describing(response.status)
            return .startsOver("the server didn't report how many bytes it has received: it responded with \(status)")
        }
        let outcome = try took(verdict, response, in: &state, part: nil)
        if let offset = state.offset {
            order.report(.continuing(at: segment == nil ? offset : order.acknowledged.count))
        }
        return outcome
    }

    private static func refusesPlace(_ response: HTTPResponse) -> Bool {
        let isFinal = 400...499 ~= response.status || response.status == 501
        return isFinal && ![401, 407, 421].contains(response.status) && !UploadRetries.isTemporary(response)
    }

    private func append(
        _ state: inout State, plan: UploadPlan, resource: UploadResource, part: UploadPart
    ) async throws -> Outcome {
        let dialect = plan.server.dialect
        var digest: [UInt8]?
        if options.sendsDigest, part.count ?? 0 > 0 { digest = try await state.source.digest(of: part) }
        let message = dialect.append(part, digest: digest)
        var request = exchange(for: message, at: resource.url)
        try load(&request, from: state.source, part, counting: SentBytes())
        let end = part.end ?? .max
        request.observeTransport { event in
            guard case .informational(104, let headers) = event,
                let offset = UploadFields.integer(headers, UploadFields.offset), part.offset...end ~= offset
            else { return }
            tally.acknowledge(offset)
        }
        state.hasSent = true
        tally.begin(at: part.offset, of: state.source.length)
        let response = try await send(request, canPause: state.source.opensAtOffset)
        state.learn(response.headers, exchange.time.date)
        let verdict = dialect.verdict(onAppend: response, plan, part: part)
        if case .complete = verdict { return .complete(named(response, state)) }
        return try took(verdict, response, in: &state, part: part)
    }

    private func took(
        _ verdict: UploadVerdict, _ response: HTTPResponse, in state: inout State, part: UploadPart?
    ) throws -> Outcome {
        if case .refused = verdict { return .refused(response) }
        response.body.cancel()
        switch verdict {
        case .has(let offset):
            if let offset, let total = state.source.length, offset > total {
                return .startsOver(
                    "the server reports that it received \(offset) bytes, but the body has only \(total)")
            }
            let before = part?.offset
            state.offset = offset
            guard let offset else {
                guard state.retries.countsInquiry() else {
                    throw TemporaryFault(reason: "the server doesn't report how many bytes it has received")
                }
                return .continues
            }
            state.retries.confirmed(offset)
            tally.acknowledge(offset)
            try save(state)
            if let before, part?.count != 0 || part?.isLast == true, offset <= before {
                throw TemporaryFault(reason: "the server didn't accept any bytes")
            }
            return .continues
        case .gone(let reason): return .startsOver(reason)
        case .damaged(let reason): throw TemporaryFault(reason: reason)
        case .unusable(let reason): throw TransferError(.unusableResponse, reason)
        case .complete, .refused: return .refused(response)
        }
    }

    private func interim(_ status: Int, headers: HTTPHeaders, findings: CreationFindings) {
        guard status == 104 else { return }
        let url = HTTPResponse(url: exchange.http.url, status: status, headers: headers).location
        let state = findings.learn(headers, from: url.flatMap { isAcceptable($0) ? $0 : nil }, at: exchange.time.date)
        let length = state.source.length ?? .max
        if let offset = UploadFields.integer(headers, UploadFields.offset), offset <= length {
            tally.acknowledge(offset)
        }
        // The transport waits for this function, so the record is written without a flush. A failed write is ignored,
        // because it matters only after a crash.
        if url != nil { try? save(state, flushes: false) }
    }

    var isRepeatable: Bool {
        // A segment may be created twice, because only one of the copies is joined.
        segment != nil || exchange.http.method.isIdempotent || exchange.http.headers.contains(.idempotencyKey)
    }

    private func digestOfBody(_ source: UploadBody) async throws -> [UInt8] {
        tally.set(.preparing)
        return try await source.digest(of: UploadPart(offset: 0, count: source.length, isLast: true))
    }

    /// Returns the response with the upload's URL as the `Location`, which responses from tus servers may lack.
    private func named(_ response: HTTPResponse, _ state: State) -> HTTPResponse {
        var response = response
        if state.server?.uploadProtocol == .tus, !response.headers.contains(.location), let resource = state.resource {
            response.headers[.location] = resource.url.absoluteString
        }
        return response
    }
}

extension UploadRun.State {
    mutating func learn(_ headers: HTTPHeaders, _ now: Date) {
        server?.learn(headers)
        resource?.learn(headers, now: now)
    }
}

/// The upload's URL and limits that were found in 1xx responses to the creating request.
final class CreationFindings: Sendable {
    private let state: Mutex<UploadRun.State>

    init(_ state: UploadRun.State) { self.state = Mutex(state) }

    var server: UploadServer? { state.withLock { $0.server } }
    var resource: UploadResource? { state.withLock { $0.resource } }

    func learn(_ headers: HTTPHeaders, from url: URL?, at now: Date) -> UploadRun.State {
        state.withLock { state in
            if let url { state.resource = UploadResource(url: url) }
            state.server?.isConfirmed = true
            state.learn(headers, now)
            return state
        }
    }
}
