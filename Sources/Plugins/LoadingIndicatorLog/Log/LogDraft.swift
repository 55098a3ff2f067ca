import Errand
import ErrandSupport

/// What is known of a running activity; a record is made of it in the end.
struct LogDraft: Sendable {
    private var request: HTTPRequest?
    private var response: HTTPResponse?
    /// Of the response's body, which is not kept: a record may wait for long.
    private var responseLength: Int64?
    private var progress = TransferProgress()
    private var attempts = 0
    private var requests = 0
    private var kind = LogRecord.Outcome.success
    private var error: (any Error)?
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
        default: break
        }
    }

    private mutating func keep(_ http: HTTPResponse) {
        response = http
        responseLength = http.body.length
        response?.body = HTTPBody(Data())
    }

    mutating func end(_ outcome: ActivityOutcome) {
        switch outcome {
        case .success(let http): if let http { keep(http) }
        case .failure(let failure):
            (kind, error) = (.failure, failure)
            if let evidence = (failure as? ErrandError)?.response { keep(evidence) }
        case .cancelled: kind = .cancelled
        }
    }

    func record(
        of activity: Activity, after duration: Duration, _ level: LogLevel, _ redaction: LogRedaction
    ) -> LogRecord {
        let final = response
        var secrets = LogSecrets()
        // Some name their requests after their URLs.
        let label = redaction.url(activity.label, &secrets)
        var record = LogRecord(
            id: activity.id, parent: activity.parent, kind: activity.kind, label: label, outcome: kind,
            duration: duration)
        if let request {
            // Headers first: what they hide is hidden in the rest as well.
            let lines = redaction.lines(request.headers, &secrets)
            record.method = request.method.rawValue
            let url = redaction.url(request.url.absoluteString, &secrets)
            record.url = secrets.masked(url)
            if level.hasHeaders { record.requestHeaders = lines.map(secrets.masked) }
        }
        record.status = final?.status
        record.source = final?.source.description
        record.error = error?.kind
        (record.attempts, record.requests) = (attempts, requests)
        (record.bytesSent, record.bytesReceived) = (progress.sent, progress.received)
        if level.hasHeaders, let final {
            let lines = redaction.lines(final.headers, &secrets)
            record.responseHeaders = lines.map(secrets.masked)
        }
        if level.bodyByteLimit > 0 {
            let (up, down) = (request?.body.length, responseLength)
            let sentBody = LogBody.text(
                sent, request?.headers[.contentType] ?? request?.body.contentType, up, redaction, &secrets)
            let receivedBody = LogBody.text(received, final?.headers[.contentType], down, redaction, &secrets)
            record.requestBody = sentBody.map(secrets.masked)
            record.responseBody = receivedBody.map(secrets.masked)
        }
        return record
    }
}
