import Errand
import ErrandDigests
import ErrandEssentials
import ErrandHTTPFields
import ErrandMessageSyntax
import ErrandSupport
import ErrandTransfers
import Synchronization

/// One run of an upload. It makes attempts until the server has the whole body, or another attempt wouldn't help.
struct UploadRun: Sendable {
    let order: UploadOrder
    let next: Next
    let tally: any UploadTally
    let segment: Segment?

    var exchange: Exchange { order.exchange }
    var options: UploadOptions { order.options }
    var control: TransferControl { order.control }

    struct State: Sendable {
        var source: UploadBody
        var retries: UploadRetries
        /// The name of the upload's record. It's empty if the upload isn't recorded.
        var identity = ""
        var record: UploadRecordFile?
        /// The fingerprint of the body. It's nil if the upload isn't recorded, or if the body can't be sampled.
        var fingerprint: SourceFingerprint?
        var server: UploadServer?
        var resource: UploadResource?
        var segments: SegmentLedger?
        /// Whether the upload may use segments. It's false after the server has shown that it can't join them.
        var mayDivide = true
        /// Whether the segments were already checked again after the server couldn't join them.
        var hasDoubted = false
        /// The number of bytes that the server has. It's nil if the server has to be asked.
        var offset: Int64?
        /// Whether to send a request to the request's own origin first. Requests to the origin of the recorded upload
        /// don't identify the user.
        var mustShowUser = false
        /// Whether the upload may be created again. It's false if a server may have received the whole body but hasn't
        /// sent the upload's URL.
        var mayRepeat = true
        /// Whether to create the upload with an empty request. It's true if the last server received bytes, but the
        /// upload's URL didn't arrive in time.
        var beginsEmpty = false
        /// Whether bytes of the body were sent. A body that can be read only once may then be used up.
        var hasSent = false
    }

    enum Outcome: Sendable {
        case continues
        case complete(HTTPResponse)
        case refused(HTTPResponse)
        case startsOver(String)
        case ended(HTTPResponse)
        case failed(any Error)
    }

    struct End: Sendable {
        let response: HTTPResponse
        let isComplete: Bool
    }

    init(_ order: UploadOrder, _ next: Next) {
        self.init(order, next: next, tally: WholeTally(order.meter, order.acknowledged), segment: nil)
    }

    init(_ order: UploadOrder, next: Next, tally: any UploadTally, segment: Segment?) {
        (self.order, self.next, self.tally, self.segment) = (order, next, tally, segment)
    }

    func run() async throws -> HTTPResponse {
        var state = State(source: order.source, retries: UploadRetries(options.retry))
        defer { state.record?.release() }
        do {
            try await prepare(&state)
            let end = try await attemptUntilOver(&state)
            if end.isComplete {
                state.record?.remove()
                tally.end(at: state.source.length ?? 0)
            } else {
                await interrupt(state)
            }
            await order.meter.allDelivered()
            return end.response
        } catch {
            // The caller handles this error: it starts the upload again with another record.
            if error is AnotherUser, !order.beginsAnew { throw error }
            await interrupt(state)
            throw error
        }
    }

    private func interrupt(_ state: State) async {
        tally.set(.interrupted)
        await order.meter.allDelivered()
        state.record?.keep(sent: order.acknowledged.reported)
    }

    func attemptUntilOver(_ state: inout State) async throws -> End {
        while true {
            if control.isPaused { tally.set(.paused) }
            try await control.waitUntilResumed()
            // If this number increases, another retry filter has already repeated the request.
            let finalFailureCount = exchange.finalFailureCount
            let failure: any Error
            do {
                switch try await step(&state) {
                case .continues: continue
                case .complete(let response): return End(response: response, isComplete: true)
                case .ended(let response): return End(response: response, isComplete: false)
                case .failed(let error): throw SegmentFailure(error: error)
                case .startsOver(let reason):
                    try await startOver(&state, reason)
                    continue
                case .refused(let response):
                    guard mayRepeat(state, after: response), exchange.finalFailureCount == finalFailureCount,
                        let wait = state.retries.wait(after: response, now: exchange.time.date)
                    else { return End(response: response, isComplete: false) }
                    response.body.cancel()
                    state.offset = nil
                    try await pause(
                        for: wait, state,
                        because: "the server responded with \(ReasonPhrase.describing(response.status))")
                    continue
                }
            } catch { failure = error }
            try Task.checkCancellation()
            if let failure = failure as? SegmentFailure { throw failure.error }
            state.offset = nil
            if failure is PauseInterruption { continue }
            if failure.isChangeOfSource {
                if segment != nil { throw failure }
                try await sourceChanged(&state)
                continue
            }
            guard state.mayRepeat, mayOpenAgain(state), TransferRetries.isTemporary(failure),
                exchange.finalFailureCount == finalFailureCount,
                let wait = state.retries.wait()
            else {
                throw (failure as? TemporaryFault).map { TransferError(.unusableResponse, $0.reason) } ?? failure
            }
            try await pause(for: wait, state, because: TransferNotice.reason(for: failure))
        }
    }

    func mayOpenAgain(_ state: State) -> Bool {
        state.source.body.isReplayable || !state.hasSent
    }

    /// Returns whether the request may be sent again after this response. If the request may have had an effect, the
    /// response must show that the server didn't process it.
    private func mayRepeat(_ state: State, after response: HTTPResponse) -> Bool {
        mayOpenAgain(state) && (state.mayRepeat || Self.saysNothingWasDone(response))
    }

    static func saysNothingWasDone(_ response: HTTPResponse) -> Bool {
        [408, 423, 425, 429, 503].contains(response.status)
    }

    private func pause(for wait: Duration, _ state: State, because reason: String) async throws {
        let end = exchange.time.date.addingTimeInterval(wait / .seconds(1))
        order.report(.retrying(attempt: state.retries.attempts, wait: wait, until: end, reason: reason))
        tally.set(.waiting(until: end))
        try await exchange.time.sleep(until: exchange.time.instant(after: wait))
    }
}

private struct SegmentFailure: Error {
    let error: any Error
}

extension Error {
    /// Whether the body has changed. A transport may have wrapped the ``SourceChanged`` in its own error.
    var isChangeOfSource: Bool { self is SourceChanged || (self as? ErrandError)?.underlying is SourceChanged }
}

extension UploadRun {
    /// Prepares the upload. If the body is the same as in the record, resumes the recorded upload.
    @concurrent func prepare(_ state: inout State) async throws {
        if options.uploadProtocol == .draft8 || options.uploadProtocol == .draft6 {
            state.server = UploadServer(options.uploadProtocol)
        }
        guard let directory = options.directory, state.source.opensAtOffset else { return }
        guard directory.isFileURL, directory.path.utf8.first == UInt8(ascii: "/") else {
            throw TransferError(.invalidRequest, "the records directory isn't a file URL with an absolute path")
        }
        state.identity = try await order.identity(in: directory.path)
        let record = try UploadRecordFile(String(state.identity.prefix(24)), in: directory.path)
        state.record = record
        if let found = record.found, found.request == state.identity, !order.beginsAnew {
            // A progress bar continues at its last position, even before the server has been asked.
            tally.acknowledge(found.acknowledged)
            order.meter.begin(at: found.reached, total: state.source.length)
        }
        tally.set(.preparing)
        let fingerprint = try await state.source.fingerprint()
        state.fingerprint = fingerprint
        guard let found = record.found, found.request == state.identity,
            options.uploadProtocol == .automatic || options.uploadProtocol == found.server.uploadProtocol,
            !found.places.isEmpty, found.places.allSatisfy({ isAcceptable($0.url) }), !order.beginsAnew
        else { return }
        let origin = URLSyntax.origin(of: exchange.http.url)
        let isElsewhere = found.places.contains { URLSyntax.origin(of: $0.url) != origin }
        order.user.expect(found.user ?? UserStamp([]))
        if found.source != fingerprint {
            order.report(
                .restarting(reason: "the body has changed since the upload began", discarded: found.acknowledged))
            if found.mayBeJoined != true, !isElsewhere { await terminate(found.places, on: found.server) }
            order.user.expect(nil)
            return
        }
        state.mustShowUser = isElsewhere
        guard let resource = found.resource else {
            takeUp(found, &state)
            return
        }
        if let expiry = resource.expiry, expiry <= exchange.time.date {
            order.report(
                .restarting(reason: "the server no longer has the upload", discarded: found.acknowledged))
            state.mustShowUser = false
            order.user.expect(nil)
            return
        }
        (state.server, state.resource) = (found.server, resource)
    }

    /// Takes over the state in a record. Expired segments start over.
    private func takeUp(_ found: UploadRecord, _ state: inout State) {
        guard var segments = found.segments, UploadSegment.areWhole(segments, of: state.source.length),
            found.server.joinsSegments
        else { return }
        for (index, segment) in segments.enumerated() {
            guard let expiry = segment.resource?.expiry, expiry <= exchange.time.date else { continue }
            order.report(
                .restarting(reason: "the server no longer has a segment", discarded: segment.acknowledged))
            (segments[index].resource, segments[index].acknowledged) = (nil, 0)
        }
        state.server = found.server
        begin(segments, mayBeJoined: found.mayBeJoined == true, in: &state, server: found.server)
    }

    /// Returns whether to send requests to a URL from a server or a record.
    func isAcceptable(_ url: URL) -> Bool {
        switch url.scheme?.lowercased() {
        case "https": true
        case "http": exchange.http.url.scheme?.lowercased() != "https"
        default: false
        }
    }

    func startOver(_ state: inout State, _ reason: String) async throws {
        guard state.retries.countRestart() else { throw TransferError(.changedTooOften, reason) }
        guard mayOpenAgain(state) else {
            throw ErrandError(.bodyNotReplayable, "\(reason), and the body can be read only once")
        }
        order.report(.restarting(reason: reason, discarded: state.offset ?? 0))
        (state.resource, state.offset) = (nil, nil)
        tally.acknowledge(0)
        try save(state)
    }

    func sourceChanged(_ state: inout State) async throws {
        if let server = state.server, state.segments?.mayBeJoined != true { await terminate(state.places, on: server) }
        state.source = try state.source.renewed()
        state.segments = nil
        if state.record != nil { state.fingerprint = try await state.source.fingerprint() }
        try await startOver(&state, "the body changed while it was sent")
    }

    func terminate(_ resources: [UploadResource], on server: UploadServer) async {
        if server.uploadProtocol == .tus, !server.extensions.contains("termination") { return }
        let message = server.dialect.termination()
        await withTaskGroup { group in
            for resource in resources {
                group.addTask { _ = try? await next(exchange(for: message, at: resource.url)) }
            }
        }
    }

    func save(_ state: State, flushes: Bool = true) throws {
        if let segment {
            try segment.ledger.keep(
                segment.index, resource: state.resource, acknowledged: state.offset ?? 0, flushes: flushes)
            return
        }
        guard let record = state.record, let fingerprint = state.fingerprint, let server = state.server else { return }
        var content = order.record(state.identity, source: fingerprint, server: server)
        content.resource = state.resource
        content.acknowledged = state.offset ?? 0
        try record.write(content, flushes: flushes)
    }
}

extension UploadRun.State {
    var places: [UploadResource] { resource.map { [$0] } ?? segments?.places ?? [] }
}

extension UploadRun {
    /// Builds a request for a message. `url` is the upload's URL, or nil for the request's own URL. A request that
    /// creates the upload keeps the header fields that describe the body.
    func exchange(for message: UploadMessage, at url: URL? = nil, isCreation: Bool = false) -> Exchange {
        var exchange = exchange
        exchange.http.method = message.method
        if let url { exchange.follow(to: url) }
        if !isCreation { exchange.http.headers.removeAll { Self.describesBody.contains($0.name) } }
        for field in message.headers { exchange.http.headers.set(field.name, field.value) }
        exchange.http.body = .none
        if message.method != .patch, !isCreation { exchange.delivery = .data }
        return exchange
    }

    private static let describesBody: Set<HTTPHeaderName> = [
        .contentType, .contentEncoding, .contentLanguage, .contentLocation, .contentDisposition, .contentDigest,
        .reprDigest, .expect, .idempotencyKey, .ifMatch, .ifNoneMatch, .ifModifiedSince, .ifUnmodifiedSince,
    ]

    func load(_ exchange: inout Exchange, from source: UploadBody, _ part: UploadPart, counting count: SentBytes) throws
    {
        if part.count == 0 {
            exchange.http.body = .data(Data(), contentType: nil)
            // An empty source is opened when the request is sent, to verify that the source is in fact empty.
            if source.length == 0, source.path == nil, source.body.data == nil, source.body.isReplayable {
                exchange.http.body = source.body
                exchange.http.body.contentType = nil
            }
            return
        }
        let (tally, control) = (tally, control)
        // Accessories and errors keep requests, and therefore this body. The body must not keep the tally, because the
        // tally keeps the activity.
        let open: @Sendable () throws -> HTTPBody = { [weak tally] in
            // A redirect sends the part again, so the count starts again.
            if count.restart() { tally?.begin(at: part.offset, of: source.length) }
            return try source.open(part, didEnd: count.end) { [weak tally] bytes in
                if control.isPaused {
                    tally?.set(.paused)
                    try await control.waitUntilResumed()
                }
                count.add(bytes)
                tally?.add(Int64(bytes))
            }
        }
        exchange.http.body =
            source.body.isReplayable
            ? .stream(length: part.count, contentType: nil, open: open) : .stream(try open(), contentType: nil)
    }

    /// Sends a request. A pause ends the request if the upload can be resumed. Otherwise, a pause only stops sending
    /// the body. If the request creates the upload, it can be resumed as soon as the server has sent the upload's URL,
    /// which is then in `findings`.
    func send(_ exchange: Exchange, canPause: Bool, _ findings: CreationFindings? = nil) async throws -> HTTPResponse {
        let opensAtOffset = order.source.opensAtOffset
        return try await control.send(exchange, next) { canPause || opensAtOffset && findings?.resource != nil }
    }
}

/// Counts the bytes that were passed to the transport. Only the transport knows whether they were sent.
final class SentBytes: Sendable {
    private let state = Mutex((count: Int64(0), isOpen: false, isEnded: false))

    func restart() -> Bool {
        state.withLock { state in
            defer { state = (0, true, false) }
            return state.isOpen
        }
    }

    func add(_ count: Int) { state.withLock { $0.count += Int64(count) } }

    func end() { state.withLock { $0.isEnded = true } }

    /// Whether the whole part was passed to the transport. A server may have the whole part then.
    func isWhole(_ part: UploadPart) -> Bool {
        state.withLock { state in part.count.map { state.count >= $0 } ?? state.isEnded }
    }
}
