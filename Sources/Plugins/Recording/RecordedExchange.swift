public import Errand
public import ErrandEssentials

/// A request that was sent, and its response. Secrets are masked, and bodies are bounded.
///
/// Each retry and each redirect is a separate exchange. A cached response isn't an exchange.
public struct RecordedExchange: Sendable, Hashable {
    /// The request that was sent.
    public struct Request: Sendable, Hashable {
        /// The request's method.
        public var method: HTTPMethod
        /// The absolute URL without credentials and fragment. Secret query items are masked. The URL is a string,
        /// because the mask isn't valid in a URL.
        public var url: String
        /// The header fields. Secrets in them are masked.
        public var headers: HTTPHeaders
        /// The part of the body that was copied.
        public var body: RecordedBody

        /// Creates a request. By default, it's a GET request without headers and body.
        public init(
            _ method: HTTPMethod = .get, _ url: String, headers: HTTPHeaders = [:],
            body: RecordedBody = RecordedBody()
        ) {
            (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
        }
    }

    /// The response that was received.
    public struct Response: Sendable, Hashable {
        /// The status code.
        public var status: Int
        /// The HTTP version: "1.1", "2" or "3". It's nil if the transport didn't report the version.
        public var version: String?
        /// The header fields. Secrets in them are masked.
        public var headers: HTTPHeaders
        /// The part of the body that was copied. The body is decoded if the transport decodes content codings.
        public var body: RecordedBody
        /// The `Location` of a redirect. Secrets in it are masked. It's nil without this field.
        public var redirectURL: String?

        /// Creates a response. By default, it has neither headers nor a body.
        public init(
            status: Int, version: String? = nil, headers: HTTPHeaders = [:], body: RecordedBody = RecordedBody(),
            redirectURL: String? = nil
        ) {
            (self.status, self.version, self.headers) = (status, version, headers)
            (self.body, self.redirectURL) = (body, redirectURL)
        }
    }

    /// The request that was sent.
    public var request: Request
    /// The response. It's nil if the response's head didn't arrive.
    public var response: Response?
    /// The messages of the WebSocket that this exchange opened. It's nil for other exchanges.
    public var webSocket: RecordedWebSocket?
    /// The ID of the activity that sent the request. It's nil for an exchange from a file.
    public var activity: Activity.ID?
    /// The batch, chain or request that the activity belongs to.
    public var parent: Activity.ID?
    /// The activity's label. Secrets in it are masked.
    public var label: String
    /// The number of the activity's attempt, from 1.
    public var attempt: Int
    /// The number of the hop within the attempt, from 1. It's above 1 after a redirect.
    public var hop: Int
    /// The time when the transport received the request.
    public var date: Date
    /// The time from the start of the recording to the start of the exchange, according to a monotonic clock.
    public var offset: Duration
    /// The time that the exchange took.
    public var duration: Duration
    /// The time from the start of the exchange to the response's head. It's nil if the head didn't arrive.
    public var timeToHead: Duration?
    /// The transport's measurements, if it reported them.
    public var timings: TransferTimings?
    /// The activity's outcome, if this was the activity's last exchange.
    public var outcome: RecordedOutcome?

    /// Creates an exchange, for example from a file.
    public init(
        request: Request, response: Response? = nil, activity: Activity.ID? = nil, parent: Activity.ID? = nil,
        label: String = "", attempt: Int = 1, hop: Int = 1, date: Date, offset: Duration = .zero,
        duration: Duration = .zero, timeToHead: Duration? = nil, timings: TransferTimings? = nil,
        outcome: RecordedOutcome? = nil
    ) {
        (self.request, self.response) = (request, response)
        (self.activity, self.parent, self.label) = (activity, parent, label)
        (self.attempt, self.hop) = (attempt, hop)
        (self.date, self.offset, self.duration) = (date, offset, duration)
        (self.timeToHead, self.timings, self.outcome) = (timeToHead, timings, outcome)
    }
}

extension RecordedExchange {
    /// The HTTP version: "1.1", "2" or "3". It's nil if neither the response nor the timings contain the version.
    public var version: String? { response?.version ?? timings?.httpVersion }

    /// The approximate memory use in bytes. Use it, for example, to limit the memory of a collection.
    public var approximateByteCount: Int {
        func count(_ headers: HTTPHeaders) -> Int {
            headers.reduce(0) { $0 + 80 + $1.name.rawName.utf8.count + $1.value.utf8.count }
        }
        return 600 + request.url.utf8.count + label.utf8.count + count(request.headers) + request.body.data.count
            + (response.map { count($0.headers) + $0.body.data.count } ?? 0) + (webSocket?.approximateByteCount ?? 0)
    }
}

extension RecordedExchange {
    /// Creates an exchange from a request and a response with secrets. Masks each secret in every part of the exchange.
    ///
    /// ```swift
    /// var recorded = RecordedExchange(masking: exchange.http, response: response, received: response.data, date: .now)
    /// recorded.timeToHead = .milliseconds(40)
    /// ```
    ///
    /// Use this initializer in your own recording transport or filter. Set numbers and times afterwards.
    ///
    /// - Parameters:
    ///   - request: The request that was sent. Its body isn't read.
    ///   - sent: A copy of the request's body, or of the body's beginning. Defaults to empty.
    ///   - response: The response, or nil if its head didn't arrive. Its body isn't read.
    ///   - received: A copy of the response's body, or of the body's beginning. Defaults to empty.
    ///   - receivedLength: The size of the response's whole body in bytes. Defaults to the size that the response
    ///     reports, or to the size of the copy.
    ///   - label: The activity's label. Defaults to empty.
    ///   - date: The time when the transport received the request.
    ///   - redaction: The rules for masking secrets.
    public init(
        masking request: HTTPRequest, sent: Data = Data(), response: HTTPResponse? = nil, received: Data = Data(),
        receivedLength: Int64? = nil, label: String = "", date: Date, redaction: Redaction = Redaction()
    ) {
        self.init(
            masking: ClearRequest(request), sent: sent, response: response.map { ClearResponse($0) },
            received: received,
            receivedLength: receivedLength, messages: nil, label: label, date: date, redactor: Redactor(redaction))
    }

    init(
        masking request: ClearRequest, sent: Data, response: ClearResponse?, received: Data, receivedLength: Int64?,
        messages: SocketMessages?, label: String, date: Date, redactor: Redactor
    ) {
        let parts = Self.maskedParts(
            request, sent: sent, response: response, received: received, receivedLength: receivedLength,
            messages: messages, label: label, redactor: redactor)
        self.init(parts, date: date)
    }

    /// Creates an exchange with all values, because changing each value later would copy the whole exchange.
    init(
        _ parts: consuming MaskedParts, activity: Activity.ID? = nil, parent: Activity.ID? = nil, attempt: Int = 1,
        hop: Int = 1, date: Date, offset: Duration = .zero, duration: Duration = .zero, timeToHead: Duration? = nil,
        timings: TransferTimings? = nil, outcome: RecordedOutcome? = nil
    ) {
        (request, response, webSocket, label) = parts
        (self.activity, self.parent) = (activity, parent)
        (self.attempt, self.hop) = (attempt, hop)
        (self.date, self.offset, self.duration) = (date, offset, duration)
        (self.timeToHead, self.timings, self.outcome) = (timeToHead, timings, outcome)
    }

    typealias MaskedParts = (request: Request, response: Response?, webSocket: RecordedWebSocket?, label: String)

    static func maskedParts(
        _ request: ClearRequest, sent: Data, response: ClearResponse?, received: Data, receivedLength: Int64?,
        messages: SocketMessages?, label: String, redactor: consuming Redactor
    ) -> MaskedParts {
        // The secrets in all parts are collected first. Then each secret is masked in all parts.
        var request = Request(request, sent: sent, redactor: &redactor)
        var response = response.map { Response($0, received: received, length: receivedLength, &redactor) }
        let label = redactor.url(label)
        var webSocket = messages?.masked(&redactor)
        request.mask(redactor)
        response?.mask(redactor)
        webSocket?.mask(redactor)
        return (request, response, webSocket, redactor.masking(label))
    }

    /// Masks the secrets that a redactor has remembered, for example from another exchange.
    public mutating func mask(_ redactor: Redactor) {
        request.mask(redactor)
        response?.mask(redactor)
        label = redactor.masking(label)
        webSocket?.mask(redactor)
    }
}

extension RecordedExchange {
    /// A request that isn't masked yet. It doesn't keep the request's body in memory.
    struct ClearRequest: Sendable {
        let method: HTTPMethod
        let url: String
        let headers: HTTPHeaders
        let contentType: String?
        let length: Int64?

        init(_ request: HTTPRequest) {
            (method, url, headers) = (request.method, request.urlText, request.headers)
            (contentType, length) = (request.body.contentType, request.body.length)
        }
    }

    struct ClearResponse: Sendable {
        let status: Int
        let version: String?
        let headers: HTTPHeaders
        let length: Int64?

        init(_ response: HTTPResponse) {
            (status, version, headers) = (response.status, response.version, response.headers)
            length = response.body.length
        }
    }
}

extension RecordedExchange.Request {
    fileprivate init(_ request: RecordedExchange.ClearRequest, sent: Data, redactor: inout Redactor) {
        let headers = redactor.headers(request.headers)
        let url = redactor.url(request.url)
        let body = RecordedBody(
            redacting: sent, request.headers[.contentType] ?? request.contentType,
            coding: request.headers[.contentEncoding], length: request.length, &redactor)
        self.init(request.method, url, headers: headers, body: body)
    }

    fileprivate mutating func mask(_ redactor: Redactor) {
        url = redactor.masking(url)
        headers = redactor.masking(headers)
        body.mask(redactor)
    }
}

extension RecordedExchange.Response {
    fileprivate init(
        _ response: RecordedExchange.ClearResponse, received: Data, length: Int64?, _ redactor: inout Redactor
    ) {
        let headers = redactor.headers(response.headers)
        // A stream may report a length of 0 if the length is unknown.
        func positive(_ length: Int64?) -> Int64? { (length ?? 0) > 0 ? length : nil }
        let known = positive(length) ?? positive(response.length)
        let redirectURL = response.headers[.location].map { redactor.url($0) }
        let body = RecordedBody(
            redacting: received, response.headers[.contentType], coding: response.headers[.contentEncoding],
            length: known ?? Int64(received.count), &redactor)
        self.init(
            status: response.status, version: response.version, headers: headers, body: body, redirectURL: redirectURL)
    }

    fileprivate mutating func mask(_ redactor: Redactor) {
        headers = redactor.masking(headers)
        redirectURL = redirectURL.map { redactor.masking($0) }
        body.mask(redactor)
    }
}

/// The phases of an exchange, one after another. A phase is nil if it didn't happen or isn't known.
public struct ExchangePhases: Sendable, Hashable {
    /// The wait for a connection.
    public var blocked: Duration?
    /// The lookup of the host's name.
    public var nameLookup: Duration?
    /// Opening the connection, without TLS.
    public var connect: Duration?
    /// Securing the connection.
    public var secure: Duration?
    /// Sending the request and its body.
    public var send: Duration?
    /// The wait for the response's first byte. If ``send`` is nil, this includes sending the request.
    public var wait: Duration
    /// Receiving the response.
    public var receive: Duration

    /// The sum of all phases.
    public var total: Duration {
        [blocked, nameLookup, connect, secure, send, wait, receive].reduce(.zero) { $0 + ($1 ?? .zero) }
    }

    init(_ timings: TransferTimings, total: Duration) {
        var last = Duration.zero
        func phase(_ end: Duration?) -> Duration? {
            guard let end else { return nil }
            defer { last = max(last, end) }
            return max(.zero, end - last)
        }
        blocked = phase(timings.queued)
        nameLookup = phase(timings.nameLookup)
        connect = phase(timings.connected)
        secure = phase(timings.secured)
        send = phase(timings.requestSent)
        wait = phase(timings.firstByte ?? total) ?? .zero
        receive = phase(total) ?? .zero
    }

    init(timeToHead: Duration?, duration: Duration) {
        wait = max(.zero, timeToHead ?? duration)
        receive = max(.zero, duration - wait)
    }
}

extension RecordedExchange {
    /// The phases of the exchange, as measured by the transport. If the transport hasn't measured them, they come from
    /// the recorder's own times.
    public var phases: ExchangePhases {
        if let timings, let total = timings.total { return ExchangePhases(timings, total: total) }
        return ExchangePhases(timeToHead: timeToHead, duration: duration)
    }
}
