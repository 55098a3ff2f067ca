public import Errand
public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

extension HTTPRequest {
    /// Creates a request from a `URLRequest`:
    ///
    /// ```swift
    /// func httpRequest() throws -> HTTPRequest? { try HTTPRequest(urlRequest) }
    /// ```
    ///
    /// The request keeps the method, the URL, the headers and a body in memory. The timeout, cache policy and cookie
    /// handling are dropped. Throws `invalidURL` if the URL is missing, and `invalidRequest` if the body is an
    /// `InputStream`.
    public init(_ request: URLRequest) throws {
        guard let url = request.url else { throw ErrandError(.invalidURL, "the URLRequest has no URL") }
        if request.httpBodyStream != nil {
            throw ErrandError(.invalidRequest, "an InputStream can't be sent; use RequestBody.file or .stream")
        }
        var headers = HTTPHeaders()
        for (name, value) in (request.allHTTPHeaderFields ?? [:]).sorted(by: { $0.key < $1.key }) {
            headers.add(HTTPHeaderName(name), value)
        }
        let body = request.httpBody.map { RequestBody.data($0, contentType: nil) } ?? .none
        self.init(HTTPMethod(rawValue: request.httpMethod ?? "GET"), url, headers: headers, body: body)
    }
}

extension URLRequest {
    /// Creates a `URLRequest` from a request. Fields of the same name are joined with commas (RFC 9110, section 5.3). A
    /// body that isn't in memory is dropped.
    public init(_ request: HTTPRequest) {
        self.init(url: request.url)
        httpMethod = request.method.rawValue
        setHeaders(request.headers)
        if let data = request.body.data, !data.isEmpty { httpBody = data }
    }

    mutating func setHeaders(_ headers: HTTPHeaders) {
        for field in headers { setValue(headers[field.name], forHTTPHeaderField: field.name.rawName) }
    }
}

extension HTTPResponse {
    /// Creates a response from an `HTTPURLResponse` and a body. If URLSession has decoded the body, `Content-Encoding`
    /// and `Content-Length` are dropped. Returns `nil` if the response has no URL.
    public init?(_ response: HTTPURLResponse, body: Data = Data()) {
        guard let url = response.url else { return nil }
        self.init(
            url: url, status: response.statusCode, headers: ResponseFields.headers(of: response, for: .get),
            body: HTTPBody(body))
    }
}

extension HTTPURLResponse {
    /// Creates an `HTTPURLResponse` from the head of a response. Fields of the same name are joined with commas.
    /// Returns `nil` if Foundation rejects the values.
    public convenience init?(_ response: HTTPResponse) {
        var fields: [String: String] = [:]
        for field in response.headers { fields[field.name.rawName] = response.headers[field.name] }
        self.init(
            url: response.url, statusCode: response.status, httpVersion: response.version.map { "HTTP/\($0)" },
            headerFields: fields)
    }
}
