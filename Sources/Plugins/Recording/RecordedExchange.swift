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
