import Errand
import ErrandEssentials
import ErrandMessageSyntax
import Synchronization

/// A running activity, with its secrets in the clear; its record is made at its end.
final class LogDraft: Sendable {
    private let state = Mutex(State())

    private struct State: Sendable {
        var request: HTTPRequest?
        var response: Head?
        var progress = TransferProgress()
        /// As the timings have it: of a response whose version was not known with its head.
        var version: String?
        var attempts = 0
        var requests = 0
        var outcome = LogRecord.Outcome.success
        var error: (any Error)?
        var stream: StreamCount?
        var sentBytes = Data()
        var receivedBytes = Data()
    }

    /// The part of a response that a record needs: not its body, since a record may wait in the queue, and not the
    /// response, which its receivers could then change in a copy only.
    private struct Head: Sendable {
        let status: Int
        let headers: HTTPHeaders
        let source: ResponseSource
        let version: String?
        let length: Int64?

        init(_ http: HTTPResponse) {
            (status, headers, source) = (http.status, http.headers, http.source)
            (version, length) = (http.version, http.body.length)
        }
    }

    // MARK: Events, of which a copy of the whole would cost more than what is kept of it

    func build(_ request: HTTPRequest) { state.withLock { $0.request = request } }

    func send(_ request: HTTPRequest, _ attempt: Int) {
        state.withLock { state in
            state.request = request
            (state.response, state.sentBytes, state.receivedBytes, state.version) = (nil, Data(), Data(), nil)
            state.attempts = max(state.attempts, attempt)
            state.requests += 1
        }
    }

    func add(sent data: Data, limit: Int) {
        state.withLock { $0.sentBytes.append(data.prefix(max(0, limit - $0.sentBytes.count))) }
    }

    func receive(_ response: HTTPResponse) {
        let head = Head(response)
        state.withLock { $0.response = head }
    }

    func add(received data: Data, limit: Int) {
        state.withLock { $0.receivedBytes.append(data.prefix(max(0, limit - $0.receivedBytes.count))) }
    }

    func report(_ progress: TransferProgress) { state.withLock { $0.progress = progress } }

    func report(version: String) { state.withLock { $0.version = version } }

    func count(_ stream: StreamCount) { state.withLock { $0.stream = stream } }

    func end(_ outcome: ActivityOutcome) {
        state.withLock { state in
            switch outcome {
            case .success(let http): if let http { state.response = Head(http) }
            case .failure(let failure):
                (state.outcome, state.error) = (.failure, failure)
                if let last = (failure as? any RequestFailure)?.response { state.response = Head(last) }
            case .cancelled: state.outcome = .cancelled
            }
        }
    }

    /// The record, once: the draft is empty then.
    func record(
        of activity: Activity, after duration: Duration, _ level: LogLevel, _ secrets: inout HeaderSecrets, dropped: Int
    ) -> LogRecord {
        var state = State()
        self.state.withLock { swap(&$0, &state) }
        let (request, response) = (state.request, state.response)
        // Headers before the rest: their secrets are masked in the rest as well.
        var redactor = secrets.redactor(knowing: request?.headers, response?.headers)
        // A label may contain the request's URL.
        let label = redactor.url(activity.label)
        let url = (request?.urlText).map { redactor.url($0) }
        var bodies: (sent: String?, received: String?)
        if level.maximumBodyBytes > 0 {
            let type = request?.headers[.contentType] ?? request?.body.contentType
            bodies.sent = LogBody.text(state.sentBytes, type, request?.body.length, &redactor)
            bodies.received = LogBody.text(
                state.receivedBytes, response?.headers[.contentType], response?.length, &redactor)
        }
        var record = LogRecord(
            id: activity.id, parent: activity.parent, kind: activity.kind,
            label: Self.line(label, redactor),
            outcome: state.outcome, duration: duration)
        record.method = (request?.method.rawValue).map { ControlCharacters.escaped($0) }
        record.url = url.map { Self.line($0, redactor) }
        record.status = response?.status
        record.source = (response?.source.description).map { ControlCharacters.escaped($0) }
        record.version = (response?.version ?? state.version).map { ControlCharacters.escaped($0) }
        record.error = state.error.map { ControlCharacters.escaped(Redaction.name(of: $0)) }
        (record.stream, record.dropped) = (state.stream, dropped)
        (record.attempts, record.requests) = (state.attempts, state.requests)
        (record.bytesSent, record.bytesReceived) = (state.progress.sent, state.progress.received)
        if level.hasHeaders {
            record.requestHeaders = Self.lines(redactor.headers(request?.headers ?? [:]), redactor)
            record.responseHeaders = Self.lines(redactor.headers(response?.headers ?? [:]), redactor)
        }
        record.requestBody = bodies.sent.map { ControlCharacters.escaped(redactor.masking($0), allowsLines: true) }
        record.responseBody = bodies.received.map {
            ControlCharacters.escaped(redactor.masking($0), allowsLines: true)
        }
        return record
    }

    /// Text from the app or a server, without secrets and control characters.
    private static func line(_ text: String, _ redactor: Redactor) -> String {
        ControlCharacters.escaped(redactor.masking(text))
    }

    private static func lines(_ headers: HTTPHeaders, _ redactor: Redactor) -> [String] {
        headers.map { line("\($0.name): \($0.value)", redactor) }
    }
}
