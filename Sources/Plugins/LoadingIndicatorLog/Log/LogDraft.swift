import Errand
import ErrandEssentials
import ErrandMessageSyntax
import ErrandRedaction
import Synchronization

/// The data of a running activity. It still contains secrets.
final class LogDraft: Sendable {
    private let state = Mutex(State())

    private struct State: Sendable {
        /// The newest request, or a request that has received a response since the newest request was sent.
        var shown = Transfer()
        /// Other requests without a response. They failed, or they're still running, as hedged requests do.
        var others: [Transfer] = []
        var progress = TransferProgress()
        var attempts = 0
        var requests = 0
        var outcome = LogRecord.Outcome.success
        var error: (any Error)?
        var stream: StreamCount?

        mutating func begin(_ transfer: Transfer) {
            if shown.number > 0, shown.response == nil { others.append(shown) }
            // The number is limited, because a request may be retried forever.
            if others.count > 8 { others.removeFirst() }
            shown = transfer
        }

        /// Changes a request. A request that receives a response is shown from then on.
        mutating func change(_ position: TransferPosition?, isResponse: Bool = false, _ body: (inout Transfer) -> Void)
        {
            guard let number = position?.transfer, number != shown.number else { return body(&shown) }
            guard let index = others.firstIndex(where: { $0.number == number }) else { return }
            body(&others[index])
            if !isResponse { return }
            let responding = others.remove(at: index)
            if shown.response == nil { others.append(shown) }
            shown = responding
        }
    }

    private struct Transfer: Sendable {
        var request: HTTPRequest?
        /// The number of the request in its call, or 0 before the first request is sent.
        var number = 0
        var response: Head?
        /// The HTTP version from the transport's events. It's used if the response doesn't have a version.
        var version: String?
        var sentBytes = Data()
        var receivedBytes = Data()
    }

    /// The head of a response. The body isn't kept, because it would use memory while a record waits in the queue. The
    /// response itself isn't kept, because its receivers would have to copy it before they can change it.
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

    // MARK: Events

    // Each of these methods takes only the values to keep, because copying a whole event would cost more.

    func build(_ request: HTTPRequest) { state.withLock { $0.shown.request = request } }

    func send(_ request: HTTPRequest, _ position: TransferPosition) {
        state.withLock { state in
            state.begin(Transfer(request: request, number: position.transfer))
            state.attempts = max(state.attempts, position.attempt)
            state.requests += 1
        }
    }

    func add(sent data: Data, _ position: TransferPosition, limit: Int) {
        state.withLock { state in
            state.change(position) { $0.sentBytes.append(data.prefix(max(0, limit - $0.sentBytes.count))) }
        }
    }

    func receive(_ response: HTTPResponse, _ position: TransferPosition) {
        let head = Head(response)
        state.withLock { $0.change(position, isResponse: true) { $0.response = head } }
    }

    func add(received data: Data, _ position: TransferPosition, limit: Int) {
        state.withLock { state in
            state.change(position) { $0.receivedBytes.append(data.prefix(max(0, limit - $0.receivedBytes.count))) }
        }
    }

    func report(_ progress: TransferProgress) { state.withLock { $0.progress = progress } }

    func report(version: String, _ position: TransferPosition?) {
        state.withLock { $0.change(position) { $0.version = version } }
    }

    func count(_ stream: StreamCount) { state.withLock { $0.stream = stream } }

    func end(_ outcome: ActivityOutcome) {
        state.withLock { state in
            switch outcome {
            case .success(let http): if let http { state.shown.response = Head(http) }
            case .failure(let failure):
                (state.outcome, state.error) = (.failure, failure)
                if let last = (failure as? any RequestFailure)?.response { state.shown.response = Head(last) }
            case .cancelled: state.outcome = .cancelled
            }
        }
    }

    func record(
        of activity: Activity, after duration: Duration, _ level: LogLevel, _ secrets: inout HeaderSecrets, dropped: Int
    ) -> LogRecord {
        var state = State()
        self.state.withLock { swap(&$0, &state) }
        let shown = state.shown
        let (request, response) = (shown.request, shown.response)
        // Secrets in the headers are also masked in all other values.
        var redactor = secrets.redactor(knowing: request?.headers, response?.headers)
        // The label may contain the request's URL, so it's masked like a URL.
        let label = redactor.url(activity.label)
        let url = (request?.urlText).map { redactor.url($0) }
        var bodies: (sent: String?, received: String?)
        if level.maximumBodyBytes > 0 {
            let type = request?.headers[.contentType] ?? request?.body.contentType
            bodies.sent = LogBody.text(shown.sentBytes, contentType: type, length: request?.body.length, &redactor)
            bodies.received = LogBody.text(
                shown.receivedBytes, contentType: response?.headers[.contentType], length: response?.length, &redactor)
        }
        let (requestHeaders, responseHeaders) =
            level.hasHeaders
            ? (
                Self.lines(redactor.headers(request?.headers ?? [:]), redactor),
                Self.lines(redactor.headers(response?.headers ?? [:]), redactor)
            ) : ([], [])
        // The record is created in one step, because changing its fields one by one would copy it each time.
        return LogRecord(
            id: activity.id, parent: activity.parent, kind: activity.kind, label: Self.line(label, redactor),
            outcome: state.outcome, method: (request?.method.rawValue).map { ControlCharacters.escaped($0) },
            url: url.map { Self.line($0, redactor) }, status: response?.status,
            error: state.error.map { ControlCharacters.escaped(Redaction.name(of: $0)) },
            source: (response?.source.description).map { ControlCharacters.escaped($0) },
            version: (response?.version ?? shown.version).map { ControlCharacters.escaped($0) }, duration: duration,
            bytesSent: state.progress.sent, bytesReceived: state.progress.received, attempts: state.attempts,
            requests: state.requests, requestHeaders: requestHeaders, responseHeaders: responseHeaders,
            requestBody: bodies.sent.map { ControlCharacters.escaped(redactor.masking($0), allowsLines: true) },
            responseBody: bodies.received.map { ControlCharacters.escaped(redactor.masking($0), allowsLines: true) },
            stream: state.stream, dropped: dropped)
    }

    private static func line(_ text: String, _ redactor: Redactor) -> String {
        ControlCharacters.escaped(redactor.masking(text))
    }

    private static func lines(_ headers: HTTPHeaders, _ redactor: Redactor) -> [String] {
        headers.map { line("\($0.name): \($0.value)", redactor) }
    }
}
