import ErrandSupport
import ErrandHTTPSyntax

public import ErrandEssentials

/// One request as it goes over the wire.
public struct HTTPRequest: Sendable {
    /// The method.
    public var method: HTTPMethod
    /// Absolute, `http` or `https`, without credentials.
    public var url: URL { didSet { isURLChecked = false } }
    /// Whether `url` was made of checked text, so that ``validate()`` has nothing left to do for it.
    package var isURLChecked = false
    /// The header fields, without those that the transport adds.
    public var headers: HTTPHeaders
    /// The body.
    public var body: RequestBody

    /// Makes a request; GET without headers and body by default.
    public init(_ method: HTTPMethod = .get, _ url: URL, headers: HTTPHeaders = [:], body: RequestBody = .none) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }

    /// Throws unless it can be sent as exactly one request: a method and header names that are tokens (RFC 9110,
    /// section 5.6.2), values without control characters (section 5.5), no framing fields of the caller's own
    /// (`Transfer-Encoding`, a `Content-Length` that is not the body's), an absolute http or https URL.
    ///
    /// Core calls it after all filters, before the transport.
    public func validate() throws {
        do { try check() } catch var error as ErrandError {
            error.request = self
            throw error
        }
    }

    private func check() throws {
        guard !method.rawValue.isEmpty, method.rawValue.utf8.allSatisfy(ASCII.isToken) else {
            throw ErrandError(.invalidRequest, "the method \(method.rawValue.debugDescription) is not a token")
        }
        if !isURLChecked {
            let text = url.absoluteString
            _ = try ErrandError.naming(.invalidURL) {
                try URLSyntax.naming("the URL", text) { () throws(URLSyntax.Fault) in try URLSyntax.check(text) }
            }
        }
        try headers.check()
        if headers.contains(.transferEncoding) {
            throw ErrandError(.invalidRequest, "Transfer-Encoding is the transport's to set")
        }
        for length in headers.values(of: .contentLength) where length != body.length.map(String.init) {
            throw ErrandError(.invalidRequest, "Content-Length is not the body's")
        }
    }
}

extension HTTPRequest: CustomStringConvertible, CustomDebugStringConvertible {
    /// Method and URL with the values of the query masked; no header, no body.
    public var description: String {
        let name = method.rawValue.utf8.allSatisfy(ASCII.isToken) ? method.rawValue : method.rawValue.debugDescription
        return "\(name) \(URLSyntax.redacted(url.absoluteString))"
    }
    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
}
