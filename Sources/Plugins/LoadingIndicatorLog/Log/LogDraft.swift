import Errand
import ErrandEssentials
import Synchronization

/// A running activity, with its secrets in the clear; its record is made at its end.
final class LogDraft: Sendable {
    private let state = Mutex(State())

    private struct State: Sendable {
        var request: HTTPRequest?
        /// As it was received; at the end its head alone.
        var received: HTTPResponse?
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

    /// The part of a response that a record needs: not its body, since a record may wait in the queue.
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
            (state.received, state.sentBytes, state.receivedBytes, state.version) = (nil, Data(), Data(), nil)
            state.attempts = max(state.attempts, attempt)
            state.requests += 1
        }
    }

    func add(sent data: Data, limit: Int) {
        state.withLock { $0.sentBytes.append(data.prefix(max(0, limit - $0.sentBytes.count))) }
    }

    func receive(_ response: HTTPResponse) { state.withLock { $0.received = response } }

    func add(received data: Data, limit: Int) {
        state.withLock { $0.receivedBytes.append(data.prefix(max(0, limit - $0.receivedBytes.count))) }
    }

    func report(_ progress: TransferProgress) { state.withLock { $0.progress = progress } }

    func report(version: String) { state.withLock { $0.version = version } }

    func count(_ stream: StreamCount) { state.withLock { $0.stream = stream } }

    func end(_ outcome: ActivityOutcome) {
        state.withLock { state in
            var last = state.received
            switch outcome {
            case .success(let http): last = http ?? last
            case .failure(let failure):
                (state.outcome, state.error) = (.failure, failure)
                last = (failure as? any RequestFailure)?.response ?? last
            case .cancelled: state.outcome = .cancelled
            }
            (state.response, state.received) = (last.map(Head.init), nil)
        }
    }

    func record(
        of activity: Activity, after duration: Duration, _ level: LogLevel, _ redaction: Redaction
    ) -> LogRecord {
        let state = state.withLock { $0 }
        let (request, response) = (state.request, state.response)
        var redactor = Redactor(redaction)
        // A label may contain the request's URL.
        let label = redactor.url(activity.label)
        // Headers before the rest: their secrets are masked in the rest as well.
        let requestHeaders = Self.masked(request?.headers, level, &redactor)
        let url = (request?.urlText).map { redactor.url($0) }
        let responseHeaders = Self.masked(response?.headers, level, &redactor)
        var bodies: (sent: String?, received: String?)
        if level.maximumBodyBytes > 0 {
            let type = request?.headers[.contentType] ?? request?.body.contentType
            bodies.sent = LogBody.text(state.sentBytes, type, request?.body.length, &redactor)
            bodies.received = LogBody.text(
                state.receivedBytes, response?.headers[.contentType], response?.length, &redactor)
        }
        var record = LogRecord(
            id: activity.id, parent: activity.parent, kind: activity.kind, label: redactor.masking(label),
            outcome: state.outcome, duration: duration)
        record.method = request?.method.rawValue
        record.url = url.map(redactor.masking)
        record.status = response?.status
        record.source = response?.source.description
        record.version = response?.version ?? state.version
        record.error = state.error.map(Redaction.name)
        record.stream = state.stream
        (record.attempts, record.requests) = (state.attempts, state.requests)
        (record.bytesSent, record.bytesReceived) = (state.progress.sent, state.progress.received)
        if level.hasHeaders {
            record.requestHeaders = Self.lines(requestHeaders, redactor)
            record.responseHeaders = Self.lines(responseHeaders, redactor)
        }
        record.requestBody = bodies.sent.map(redactor.masking)
        record.responseBody = bodies.received.map(redactor.masking)
        return record
    }

    /// Header fields for a level that shows them; for any other, they are only searched for secrets.
    private static func masked(_ headers: HTTPHeaders?, _ level: LogLevel, _ redactor: inout Redactor) -> HTTPHeaders {
        guard let headers else { return [:] }
        if level.hasHeaders { return redactor.headers(headers) }
        let secrets = headers.filter(\.isSensitive)
        return secrets.isEmpty ? [:] : redactor.headers(HTTPHeaders(secrets))
    }

    private static func lines(_ headers: HTTPHeaders, _ redactor: Redactor) -> [String] {
        headers.map { redactor.masking("\($0.name): \($0.value)") }
    }
}
