public import Errand
public import ErrandEssentials
public import HTTPTypes

extension HTTPTypes.HTTPResponse {
    /// A response without its body: status and header fields. URL, version and source have no counterpart, and there is no
    /// reason phrase.
    ///
    /// Throws ``HTTPTypesError``, for a status that is no number of three digits as well.
    public init(_ response: Errand.HTTPResponse) throws(HTTPTypesError) {
        guard (0...999).contains(response.status) else {
            throw HTTPTypesError(.invalidStatus, "the status \(response.status) has not three digits")
        }
        self.init(status: Status(code: response.status), headerFields: try HTTPFields(response.headers))
    }
}

extension Errand.HTTPResponse {
    /// A response of swift-http-types to a request; the reason phrase is left out.
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

    /// A response of swift-http-types from a URL; the reason phrase is left out.
    public init(
        _ response: HTTPTypes.HTTPResponse, from url: URL, body: HTTPBody = .empty, version: String? = nil,
        source: ResponseSource = .network
    ) {
        self.init(
            url: url, status: response.status.code, headers: HTTPHeaders(response.headerFields), body: body,
            version: version, source: source)
    }
}
