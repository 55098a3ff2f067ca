import Errand
import ErrandEssentials

/// A running activity, with its secrets in the clear; its record is made at its end.
struct LogDraft: Sendable {
    private var request: HTTPRequest?
    /// Without its body, since a record may wait in the queue.
    private var response: HTTPResponse?
    private var responseLength: Int64?
    private var progress = TransferProgress()
    private var attempts = 0
    private var requests = 0
    private var outcome = LogRecord.Outcome.success
    private var error: (any Error)?
    private var stream: StreamCount?
    private var sent = Data()
    private var received = Data()

    mutating func add(_ event: ActivityEvent, limit: Int) {
        switch event {
        case .built(let http): request = http
        case .sending(let http, let attempt, _):
            request = http
            (response, responseLength, sent, received) = (nil, nil, Data(), Data())
            attempts = max(attempts, attempt)
            requests += 1
        case .requestBody(let data): sent.append(data.prefix(max(0, limit - sent.count)))
        case .received(let http, _, _): keep(http)
        case .responseBody(let data): received.append(data.prefix(max(0, limit - received.count)))
        case .transport(.progress(let progress)): self.progress = progress
        case .note(let note): stream = note.details as? StreamCount ?? stream
        default: break
        }
    }

    private mutating func keep(_ http: HTTPResponse) {
        response = http
        responseLength = http.body.length
        response?.body = .empty
    }

    mutating func end(_ outcome: ActivityOutcome) {
        switch outcome {
        case .success(let http): if let http { keep(http) }
        case .failure(let failure):
            (self.outcome, error) = (.failure, failure)
            if let evidence = (failure as? ErrandError)?.response { keep(evidence) }
        case .cancelled: self.outcome = .cancelled
        }
    }

    func record(
        of activity: Activity, after duration: Duration, _ level: LogLevel, _ redaction: Redaction
    ) -> LogRecord {
        var redactor = Redactor(redaction)
        // A label may contain the request's URL.
        let label = redactor.url(activity.label)
        // Headers before the rest: their secrets are masked in the rest as well.
        let requestHeaders = (request?.headers).map { redactor.headers($0) } ?? [:]
        let url = (request?.url.absoluteString).map { redactor.url($0) }
        let responseHeaders = (response?.headers).map { redactor.headers($0) } ?? [:]
        var bodies: (sent: String?, received: String?)
        if level.bodyByteLimit > 0 {
            let type = request?.headers[.contentType] ?? request?.body.contentType
            bodies.sent = LogBody.text(sent, type, request?.body.length, &redactor)
            bodies.received = LogBody.text(received, response?.headers[.contentType], responseLength, &redactor)
        }
        var record = LogRecord(
            id: activity.id, parent: activity.parent, kind: activity.kind, label: redactor.masking(label),
            outcome: outcome, duration: duration)
        record.method = request?.method.rawValue
        record.url = url.map(redactor.masking)
        record.status = response?.status
        record.source = response?.source.description
        record.error = error.map(Redaction.name)
        record.stream = stream
        (record.attempts, record.requests) = (attempts, requests)
        (record.bytesSent, record.bytesReceived) = (progress.sent, progress.received)
        if level.hasHeaders {
            record.requestHeaders = Self.lines(requestHeaders, redactor)
            record.responseHeaders = Self.lines(responseHeaders, redactor)
        }
        record.requestBody = bodies.sent.map(redactor.masking)
        record.responseBody = bodies.received.map(redactor.masking)
        return record
    }

    private static func lines(_ headers: HTTPHeaders, _ redactor: Redactor) -> [String] {
        headers.map { redactor.masking("\($0.name): \($0.value)") }
    }
}
