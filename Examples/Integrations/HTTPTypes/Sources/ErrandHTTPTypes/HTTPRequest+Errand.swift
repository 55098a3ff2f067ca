public import Errand
import ErrandEssentials
import ErrandHTTPSyntax
public import HTTPTypes

extension HTTPTypes.HTTPRequest {
    /// Converts a request without its body: method, scheme, authority, path with query, and header fields. The URL's
    /// fragment is dropped, because HTTP doesn't send it.
    ///
    /// ```swift
    /// let typed = try HTTPTypes.HTTPRequest(exchange.http)
    /// ```
    ///
    /// Throws ``HTTPTypesError`` for anything that no message may contain: a method that isn't a token, or a URL that
    /// HTTP can't request.
    public init(_ request: Errand.HTTPRequest) throws(HTTPTypesError) {
        guard let method = Method(request.method.rawValue) else {
            throw HTTPTypesError(
                .invalidMethod,
                "the method \(request.method.rawValue.debugDescription) has a character that methods can't have")
        }
        let (scheme, authority, path) = try Self.parts(of: request.urlText)
        self.init(
            method: method, scheme: scheme, authority: authority, path: path,
            headerFields: try HTTPFields(request.headers))
    }

    /// Splits a URL into scheme, authority and the rest, byte by byte. Foundation's `URLComponents` would repair it.
    private static func parts(
        of url: String
    ) throws(HTTPTypesError) -> (scheme: String, authority: String, path: String) {
        let end: Int
        do { end = try URLSyntax.check(url) } catch { throw HTTPTypesError(.invalidURL, error.description) }
        let bytes = Array(url.utf8)
        let colon = bytes.firstIndex(of: UInt8(ascii: ":")) ?? 0
        let rest = bytes[end...].prefix { $0 != UInt8(ascii: "#") }
        let path = String(decoding: rest, as: UTF8.self)
        return (
            String(decoding: bytes[..<colon], as: UTF8.self), String(decoding: bytes[(colon + 3)..<end], as: UTF8.self),
            path.hasPrefix("/") ? path : "/" + path
        )
    }
}

extension Errand.HTTPRequest {
    /// Converts a request from swift-http-types, with an optional body.
    ///
    /// ```swift
    /// let request = try Errand.HTTPRequest(typed, body: .data(data))
    /// ```
    ///
    /// Throws ``HTTPTypesError`` with the code `invalidURL` if the target isn't an `http` or `https` URL. That includes
    /// requests without scheme or authority, `CONNECT`, extended `CONNECT`, and `OPTIONS *`.
    public init(_ request: HTTPTypes.HTTPRequest, body: RequestBody = .none) throws(HTTPTypesError) {
        if let name = request.extendedConnectProtocol {
            throw HTTPTypesError(
                .invalidURL, "a request for the protocol \(name.debugDescription) has no URL to send it to")
        }
        guard request.method != .connect, let scheme = request.scheme, let authority = request.authority,
            let path = request.path, path.hasPrefix("/")
        else {
            throw HTTPTypesError(
                .invalidURL, "the \(request.method) request has no URL: it needs a scheme, an authority and a path")
        }
        let text = "\(scheme)://\(authority)\(path)"
        do { _ = try URLSyntax.check(text) } catch { throw HTTPTypesError(.invalidURL, error.description) }
        guard let url = URL(string: text) else {
            throw HTTPTypesError(.invalidURL, "Foundation can't parse the URL \(URLSyntax.quoted(text))")
        }
        self.init(
            HTTPMethod(rawValue: request.method.rawValue), url, headers: HTTPHeaders(request.headerFields), body: body)
    }
}
