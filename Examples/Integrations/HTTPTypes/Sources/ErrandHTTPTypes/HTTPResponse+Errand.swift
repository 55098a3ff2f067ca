public import Errand
public import ErrandEssentials
public import HTTPTypes

extension HTTPTypes.HTTPResponse {
    /// Converts a response without its body: status and header fields. URL, version and source are lost, and there is
    /// no reason phrase.
    ///
    /// Throws ``HTTPTypesError``, also for a status that isn't a three-digit number.
    public init(_ response: Errand.HTTPResponse) throws(HTTPTypesError) {
        guard (0...999).contains(response.status) else {
            throw HTTPTypesError(.invalidStatus, "expected a status of three digits, got \(response.status)")
        }
        self.init(status: Status(code: response.status), headerFields: try HTTPFields(response.headers))
    }
}

extension Errand.HTTPResponse {
    /// Converts a response from swift-http-types, as the response to a request. The reason phrase is dropped.
    ///
    /// ```swift
    /// return Errand.HTTPResponse(typed, to: request, body: HTTPBody(data), version: "2")
    /// ```
    public init(
        _ response: HTTPTypes.HTTPResponse, to request: Errand.HTTPRequest, body: HTTPBody = .empty,
        version: String? = nil, source: ResponseSource = .network
    ) {
        self.init(
            to: request, status: response.status.code, headers: HTTPHeaders(response.headerFields), body: body,
            version: version, source: source)
    }

    /// Converts a response from swift-http-types, as the response of a URL. The reason phrase is dropped.
    public init(
        _ response: HTTPTypes.HTTPResponse, from url: URL, body: HTTPBody = .empty, version: String? = nil,
        source: ResponseSource = .network
    ) {
        self.init(
            url: url, status: response.status.code, headers: HTTPHeaders(response.headerFields), body: body,
            version: version, source: source)
    }
}
