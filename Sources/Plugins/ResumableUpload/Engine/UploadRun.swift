import Errand
import ErrandEssentials
import ErrandHTTPSyntax
import ErrandSupport

/// The run of one upload: attempts until the server has the whole body, or until no further attempt would help.
struct UploadRun: Sendable {
    let order: UploadOrder
    let next: Next

    var exchange: Exchange { order.exchange }
    var options: UploadOptions { order.options }
    var control: UploadControl { order.control }
    var meter: TransferMeter<UploadState> { order.meter }

    /// What changes from request to request.
    struct State: Sendable {
        var source: UploadSource
        var retries: UploadRetries
        var record: UploadRecordFile?
        /// Nil without a record, and for a body that has no samples.
        var fingerprint: SourceFingerprint?
        /// Nil before it was asked.
        var server: UploadServer?
        /// The place of the upload; nil before it was made.
        var resource: UploadResource?
        /// What the server has; nil where it has to be asked.
        var offset: Int64?
        /// False once a server may have received the whole body without having named a place for it.
        var mayRepeat = true
        /// Whether a server of the protocol got bytes without naming a place for them in time.
        var beginsEmpty = false
        /// Whether the body was opened for an upload that has no place.
        var hasSent = false
    }

    /// What follows a request.
    enum Outcome: Sendable {
        case continues
        case complete(HTTPResponse)
        case refused(HTTPResponse)
        case startsOver(String)
    }

    init(_ order: UploadOrder, _ next: Next) { (self.order, self.next) = (order, next) }

    func run() async throws -> HTTPResponse {
        do {
            let response = try await attemptUntilComplete()
            await meter.allDelivered()
            return response
        } catch {
            meter.set(.interrupted)
            await meter.allDelivered()
            throw error
        }
    }

    private func attemptUntilComplete() async throws -> HTTPResponse {
        var state = State(source: order.source, retries: UploadRetries(options.retry))
        try await prepare(&state)
        while true {
            if control.isPaused { meter.set(.paused) }
            try await control.pauses.waitUntilResumed()
            // A retry further in may have repeated the failed request in vain.
            let finalFailures = exchange.finalFailures
            let failure: any Error
            do {
                switch try await step(&state) {
                case .continues: continue
                case .complete(let response):
                    state.record?.remove()
                    meter.end(at: state.source.length ?? 0)
                    return response
                case .startsOver(let reason):
                    try await startOver(&state, reason)
                    continue
                case .refused(let response):
                    guard mayRepeat(state, after: response), exchange.finalFailures == finalFailures,
                        let wait = state.retries.wait(after: response, now: exchange.time.date)
                    else {
                        meter.set(.interrupted)
                        return response
                    }
                    response.body.cancel()
                    state.offset = nil
                    try await pause(
                        for: wait, state,
                        because: "the server responded with \(ReasonPhrase.describing(response.status))")
                    continue
                }
            } catch { failure = error }
            try Task.checkCancellation()
            state.offset = nil
            if failure is PauseInterruption { continue }
            if failure.isChangeOfSource {
                try await sourceChanged(&state)
                continue
            }
            guard state.mayRepeat, mayOpenAgain(state), failure.isTemporary, exchange.finalFailures == finalFailures,
                let wait = state.retries.wait()
            else {
                throw (failure as? TemporaryFault).map { UploadError(.unusableResponse, $0.reason) } ?? failure
            }
            try await pause(for: wait, state, because: UploadNotice.reason(for: failure))
        }
    }

    /// Whether the body can be sent once more, from where the server is or from its start.
    private func mayOpenAgain(_ state: State) -> Bool {
        state.source.body.isReplayable || !state.hasSent
    }

    /// Whether a refused request may be sent again: one that may have made something is not, unless the server says that it
    /// has not worked on it.
    private func mayRepeat(_ state: State, after response: HTTPResponse) -> Bool {
        mayOpenAgain(state) && (state.mayRepeat || [408, 423, 425, 429, 503].contains(response.status))
    }

    /// Opens the record, and continues the upload that it describes where the body is still the same.
    @concurrent private func prepare(_ state: inout State) async throws {
        if options.uploadProtocol == .draft8 || options.uploadProtocol == .draft6 {
            state.server = UploadServer(options.uploadProtocol)
        }
        guard let directory = options.directory, state.source.opensAtOffset else { return }
        guard directory.isFileURL, directory.path.utf8.first == UInt8(ascii: "/") else {
            throw UploadError(.invalidRequest, "the directory of the records is not a file URL with an absolute path")
        }
        let record = try UploadRecordFile(String(order.id.prefix(24)), in: directory.path)
        state.record = record
        meter.set(.preparing)
        let fingerprint = try await state.source.fingerprint()
        state.fingerprint = fingerprint
        guard let found = record.found, found.request == order.id, let resource = found.resource,
            options.uploadProtocol == .automatic || options.uploadProtocol == found.server.uploadProtocol,
            isAcceptable(resource.url)
        else { return }
        if found.source != fingerprint {
            order.report(.restarting(reason: "the body has changed", discarded: found.acknowledged))
            await terminate(resource, on: found.server)
            return
        }
        if let expiry = resource.expiry, expiry <= exchange.time.date {
            order.report(
                .restarting(reason: "the server has forgotten the upload by now", discarded: found.acknowledged))
            return
        }
        (state.server, state.resource) = (found.server, resource)
    }

    /// Whether requests of this upload may go to a URL that a server, or a file, has named.
    func isAcceptable(_ url: URL) -> Bool {
        switch url.scheme?.lowercased() {
        case "https": true
        case "http": exchange.http.url.scheme?.lowercased() != "https"
        default: false
        }
    }

    /// Forgets what the server has.
    private func startOver(_ state: inout State, _ reason: String) async throws {
        guard state.retries.restarts() else { throw UploadError(.changedTooOften, reason) }
        guard mayOpenAgain(state) else {
            throw ErrandError(.bodyNotReplayable, "\(reason), and the body can be read only once")
        }
        order.report(.restarting(reason: reason, discarded: state.offset ?? 0))
        (state.resource, state.offset) = (nil, nil)
        order.acknowledge(0)
        try save(state)
    }

    /// The file was written to while it was sent: what the server has belongs to the old one.
    private func sourceChanged(_ state: inout State) async throws {
        if let (resource, server) = state.place { await terminate(resource, on: server) }
        state.source = try state.source.renewed()
        if state.record != nil { state.fingerprint = try await state.source.fingerprint() }
        try await startOver(&state, "the body changed while it was sent")
    }

    /// Tells the server that an upload is of no use any more; that it does not hear it does no harm.
    private func terminate(_ resource: UploadResource, on server: UploadServer) async {
        if server.uploadProtocol == .tus, !server.extensions.contains("termination") { return }
        let message = server.dialect.termination()
        _ = try? await next(self.exchange(for: message, at: resource.url))
    }

    /// Writes what a later run has to know.
    func save(_ state: State, flushes: Bool = true) throws {
        guard let record = state.record, let fingerprint = state.fingerprint, let server = state.server else { return }
        var content = order.record(fingerprint, server)
        content.resource = state.resource
        content.acknowledged = state.offset ?? 0
        try record.write(content, flushes: flushes)
    }

    private func pause(for wait: Duration, _ state: State, because reason: String) async throws {
        let end = exchange.time.date.addingTimeInterval(wait / .seconds(1))
        order.report(
            .retrying(attempt: state.retries.attempts, wait: wait, until: end, reason: reason), .waiting(until: end))
        try await exchange.time.sleep(until: exchange.time.instant(after: wait))
    }
}

extension UploadRun.State {
    /// The place of the upload, with what is known of its server.
    var place: (UploadResource, UploadServer)? {
        guard let resource, let server else { return nil }
        return (resource, server)
    }
}

extension Error {
    /// Whether the body has changed since the upload began; a transport reports the error of a body as the underlying one.
    var isChangeOfSource: Bool { self is SourceChanged || (self as? ErrandError)?.underlying is SourceChanged }
}
