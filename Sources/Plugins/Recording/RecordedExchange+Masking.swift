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
        var redactor = Redactor(redaction)
        // Everything is searched for secrets first: a secret of one part is masked in all of them.
        self.init(
            request: Request(request, sent, &redactor),
            response: response.map { Response($0, received, receivedLength, &redactor) },
            label: redactor.url(label), date: date)
        mask(redactor)
    }

    /// Masks the secrets that a redactor remembers, such as those of another exchange.
    public mutating func mask(_ redactor: Redactor) {
        request.url = redactor.masking(request.url)
        request.headers = request.headers.masked(redactor)
        request.body.mask(redactor)
        label = redactor.masking(label)
        guard var response else { return }
        response.headers = response.headers.masked(redactor)
        response.redirectURL = response.redirectURL.map { redactor.masking($0) }
        response.body.mask(redactor)
        self.response = response
    }
}

extension RecordedExchange.Request {
    fileprivate init(_ request: HTTPRequest, _ sent: Data, _ redactor: inout Redactor) {
        let headers = redactor.headers(request.headers)
        let url = redactor.url(request.urlText)
        let body = RecordedBody(
            redacting: sent, request.headers[.contentType] ?? request.body.contentType,
            coding: request.headers[.contentEncoding], length: request.body.length, &redactor)
        self.init(request.method, url, headers: headers, body: body)
    }
}

extension RecordedExchange.Response {
    fileprivate init(_ response: HTTPResponse, _ received: Data, _ length: Int64?, _ redactor: inout Redactor) {
        let headers = redactor.headers(response.headers)
        // A stream does not always say its length: 0 stands for one that is not known, too.
        let known = [length, response.body.length].compactMap(\.self).first { $0 > 0 }
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
