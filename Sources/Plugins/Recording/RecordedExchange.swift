public import Errand
public import ErrandEssentials

/// One request on the wire and its response, as a recorder keeps them or a file restores them: secrets masked, bodies
/// bounded.
///
/// A retry and a redirect are exchanges of their own; a response from a cache is not an exchange.
public struct RecordedExchange: Sendable, Hashable {
    /// The request as it was sent.
    public struct Request: Sendable, Hashable {
        /// The method.
        public var method: HTTPMethod
        /// The absolute URL without credentials and fragment, the values of secret query items masked. A text, since the
        /// mask is not part of a valid URL.
        public var url: String
        /// The header fields, secret values masked.
        public var headers: HTTPHeaders
        /// The body.
        public var body: RecordedBody

        /// Makes a request.
        public init(
            _ method: HTTPMethod = .get, _ url: String, headers: HTTPHeaders = [:],
            body: RecordedBody = RecordedBody()
        ) {
            (self.method, self.url, self.headers, self.body) = (method, url, headers, body)
        }
    }

    /// The response as it was received.
    public struct Response: Sendable, Hashable {
        /// The status code.
        public var status: Int
        /// "1.1", "2", "3"; nil where the transport did not report it.
        public var version: String?
        /// The header fields, secret values masked.
        public var headers: HTTPHeaders
        /// The body, its content coding undone if the transport undid it.
        public var body: RecordedBody
        /// The target of a redirect as `Location` names it, secrets masked; nil without that field.
        public var redirectURL: String?

        /// Makes a response.
        public init(
            status: Int, version: String? = nil, headers: HTTPHeaders = [:], body: RecordedBody = RecordedBody(),
            redirectURL: String? = nil
        ) {
            (self.status, self.version, self.headers) = (status, version, headers)
            (self.body, self.redirectURL) = (body, redirectURL)
        }
    }

    /// The request.
    public var request: Request
    /// The response; nil if its head did not arrive.
    public var response: Response?
    /// The messages of the socket that it opened, until now or until its end; nil for any other exchange.
    public var webSocket: RecordedWebSocket?
    /// The activity that sent the request; nil for an exchange from a file.
    public var activity: Activity.ID?
    /// The batch, chain or request that the activity belongs to.
    public var parent: Activity.ID?
    /// The activity's name for people, secrets masked.
    public var label: String
    /// The attempt of its activity, counted from 1.
    public var attempt: Int
    /// The hop of its attempt, counted from 1; greater for the target of a redirect.
    public var hop: Int
    /// The calendar date at which the request was passed to the transport.
    public var date: Date
    /// The same instant, counted from the start of the recording by a clock that never jumps.
    public var offset: Duration
    /// The time from that instant to the end of the exchange.
    public var duration: Duration
    /// The time from that instant to the head of the response; nil without one.
    public var timeToHead: Duration?
    /// The transport's measurements; nil where it reported none.
    public var timings: TransferTimings?
    /// The outcome of the activity, if this was its last exchange; nil if another one followed.
    public var outcome: RecordedOutcome?

    /// Makes an exchange, such as one that was read from a file.
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
    /// The HTTP version of the exchange: "1.1", "2", "3"; nil where neither response nor timings have it.
    public var version: String? { response?.version ?? timings?.httpVersion }

    /// The approximate number of bytes that it takes in memory: for a bound on what is kept.
    public var approximateByteCount: Int {
        let headers = [request.headers, response?.headers ?? [:]].joined()
        return headers.reduce(into: 600 + request.url.utf8.count + label.utf8.count) { sum, field in
            sum += 80 + field.name.rawName.utf8.count + field.value.utf8.count
        } + request.body.data.count + (response?.body.data.count ?? 0) + (webSocket?.approximateByteCount ?? 0)
    }
}

extension RecordedExchange {
    /// An exchange whose secrets are in the clear becomes one that can be kept: each secret is masked in all parts of it.
    ///
    /// ```swift
    /// var recorded = RecordedExchange(masking: exchange.http, response: response, received: response.data, date: .now)
    /// recorded.timeToHead = .milliseconds(40)
    /// ```
    ///
    /// For a transport or a filter that records; ``ExchangeRecorder`` makes its values in the same way. Numbers and
    /// times are set afterwards.
    ///
    /// - Parameters:
    ///   - request: the request as it was sent. Its body is not read.
    ///   - sent: the copy of its body, or the beginning of it; empty by default.
    ///   - response: the response; nil if its head did not arrive. Its body is not read.
    ///   - received: the copy of its body, or the beginning of it; empty by default.
    ///   - receivedLength: the size of the whole body of the response in bytes; by default what the response says,
    ///     or the size of the copy.
    ///   - label: the activity's name for people; empty by default.
    ///   - date: the date at which the request was passed to the transport.
    ///   - redaction: the rules for secrets.
    public init(
        masking request: HTTPRequest, sent: Data = Data(), response: HTTPResponse? = nil, received: Data = Data(),
        receivedLength: Int64? = nil, label: String = "", date: Date, redaction: Redaction = Redaction()
    ) {
        self.init(
            masking: ClearRequest(request), sent: sent, response.map { ClearResponse($0) }, received: received,
            receivedLength: receivedLength, nil, label, date, redaction)
    }

    init(
        masking request: ClearRequest, sent: Data, _ response: ClearResponse?, received: Data, receivedLength: Int64?,
        _ messages: SocketMessages?, _ label: String, _ date: Date, _ redaction: Redaction
    ) {
        var redactor = Redactor(redaction)
        // Everything is searched for secrets first: a secret of one part is masked in all of them.
        self.init(
            request: Request(request, sent, &redactor),
            response: response.map { Response($0, received, receivedLength, &redactor) },
            label: redactor.url(label), date: date)
        webSocket = messages?.masked(&redactor)
        mask(redactor)
    }

    /// Masks the secrets that a redactor remembers, such as those of another exchange.
    public mutating func mask(_ redactor: Redactor) {
        request.url = redactor.masking(request.url)
        request.headers = request.headers.masked(redactor)
        request.body.mask(redactor)
        label = redactor.masking(label)
        webSocket?.mask(redactor)
        guard var response else { return }
        response.headers = response.headers.masked(redactor)
        response.redirectURL = response.redirectURL.map { redactor.masking($0) }
        response.body.mask(redactor)
        self.response = response
    }
}

extension RecordedExchange {
    /// The parts of a request that are recorded, secrets in the clear; not its body, since it may wait for its masking.
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

    /// The same of a response.
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
    fileprivate init(_ request: RecordedExchange.ClearRequest, _ sent: Data, _ redactor: inout Redactor) {
        let headers = redactor.headers(request.headers)
        let url = redactor.url(request.url)
        let body = RecordedBody(
            redacting: sent, request.headers[.contentType] ?? request.contentType,
            coding: request.headers[.contentEncoding], length: request.length, &redactor)
        self.init(request.method, url, headers: headers, body: body)
    }
}

extension RecordedExchange.Response {
    fileprivate init(
        _ response: RecordedExchange.ClearResponse, _ received: Data, _ length: Int64?, _ redactor: inout Redactor
    ) {
        let headers = redactor.headers(response.headers)
        // A stream does not always say its length: 0 stands for one that is not known, too.
        let known = [length, response.length].compactMap(\.self).first { $0 > 0 }
        let redirectURL = response.headers[.location].map { redactor.url($0) }
        let body = RecordedBody(
            redacting: received, response.headers[.contentType], coding: response.headers[.contentEncoding],
            length: known ?? Int64(received.count), &redactor)
        self.init(
            status: response.status, version: response.version, headers: headers, body: body, redirectURL: redirectURL)
    }
}

extension HTTPHeaders {
    fileprivate func masked(_ redactor: Redactor) -> HTTPHeaders {
        HTTPHeaders(
            map { field in
                var field = field
                field.value = redactor.masking(field.value)
                return field
            })
    }
}
