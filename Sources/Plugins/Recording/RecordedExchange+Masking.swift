public import Errand
public import ErrandEssentials

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
