public import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

/// A request as it goes over the wire.
public struct HTTPRequest: Sendable {
    private var fields: CopyOnWrite<Fields>

    private struct Fields {
        var method: HTTPMethod
        var url: MessageURL
        var headers: HTTPHeaders
        var body: RequestBody
    }

    /// The request's method.
    public var method: HTTPMethod {
        get { fields.value.method }
        set { fields.value.method = newValue }
    }
    /// An absolute `http` or `https` URL without credentials.
    public var url: URL {
        get { fields.value.url.url }
        set { fields.value.url = .given(newValue) }
    }
    /// The text of ``url``, for transports and logs. Fast for requests that Core has built.
    public var urlText: String { fields.value.url.text }
    /// The host of ``url`` in lower case, for accessories; `nil` without a host. Fast for requests that Core has built.
    public var host: String? {
        switch fields.value.url {
        case .given(let url): url.host?.lowercased()
        case .checked(let checked): checked.host
        }
    }
    /// The header fields, except those that the transport adds.
    public var headers: HTTPHeaders {
        get { fields.value.headers }
        set { fields.value.headers = newValue }
        _modify { yield &fields.value.headers }
    }
    /// The request's body.
    public var body: RequestBody {
        get { fields.value.body }
        set { fields.value.body = newValue }
    }

    /// Creates a request. Defaults to GET without headers or a body.
    public init(_ method: HTTPMethod = .get, _ url: URL, headers: HTTPHeaders = [:], body: RequestBody = .none) {
        fields = CopyOnWrite(
            Fields(method: method, url: .given(url), headers: headers, body: body))
    }

    /// Creates a request for a URL whose text has been checked.
    package init(_ method: HTTPMethod, to url: CheckedURL, headers: HTTPHeaders, body: RequestBody) {
        fields = CopyOnWrite(
            Fields(method: method, url: .checked(url), headers: headers, body: body))
    }

    var messageURL: MessageURL { fields.value.url }

    /// Whether one request is a copy of the other with the same URL. Doesn't compare texts, so false doesn't mean that
    /// the URLs differ.
    package func sharesURL(with other: HTTPRequest) -> Bool {
        guard case .checked(let own) = fields.value.url, case .checked(let others) = other.fields.value.url else {
            return false
        }
        return own === others
    }

    /// Throws an error unless the request is well-formed and can't be read as more than one request:
    ///
    /// - The method and header names are tokens (RFC 9110, section 5.6.2).
    /// - Header values contain no control characters (section 5.5).
    /// - The caller sets no framing fields: no `Transfer-Encoding`, and no `Content-Length` other than the body's.
    /// - The URL is absolute, `http` or `https`.
    ///
    /// Core calls this method after all filters, before the transport.
    public func validate() throws {
        do { try check() } catch var error as ErrandError {
            error.request = self
            throw error
        }
    }

    private func check() throws {
        guard method.isToken else {
            throw ErrandError(.invalidRequest, "the method \(method.rawValue.debugDescription) is not a token")
        }
        if case .given(let url) = fields.value.url {
            let text = url.absoluteString
            _ = try ErrandError.naming(.invalidURL) {
                try URLSyntax.naming("the URL", text) { () throws(URLSyntax.Fault) in try URLSyntax.check(text) }
            }
        }
        for field in headers {
            try field.check()
            guard field.name.isFraming else { continue }
            if field.name == .transferEncoding {
                throw ErrandError(.invalidRequest, "Transfer-Encoding is set by the transport; remove the header")
            }
            if field.value != body.length.map(String.init) {
                throw ErrandError(.invalidRequest, "Content-Length doesn't match the body's length; remove the header")
            }
        }
    }
}

extension HTTPRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The method and URL, with values masked as ``Redaction`` does by default. Contains no headers and no body.
    public var description: String {
        let name = method.isToken ? method.rawValue : method.rawValue.debugDescription
        return "\(name) \(Redaction.masked(urlText))"
    }
    /// Same as `description`.
    public var debugDescription: String { description }
    /// Empty, to hide secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// An HTTP method, such as `.get` or `"PROPFIND"` (RFC 9110, section 9).
///
/// The name is sent as written. If it isn't a token, the request throws ``ErrandError/Code/invalidRequest`` when it is
/// built.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name as sent, which is case-sensitive.
    public let rawValue: String

    /// Creates a method with any name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Creates a method from a literal.
    public init(stringLiteral value: String) { self.init(rawValue: value) }

    /// RFC 9110, section 9.3.1.
    public static let get = HTTPMethod(rawValue: "GET")
    /// RFC 9110, section 9.3.2.
    public static let head = HTTPMethod(rawValue: "HEAD")
    /// RFC 9110, section 9.3.3.
    public static let post = HTTPMethod(rawValue: "POST")
    /// RFC 9110, section 9.3.4.
    public static let put = HTTPMethod(rawValue: "PUT")
    /// RFC 9110, section 9.3.5.
    public static let delete = HTTPMethod(rawValue: "DELETE")
    /// RFC 5789.
    public static let patch = HTTPMethod(rawValue: "PATCH")
    /// RFC 9110, section 9.3.7.
    public static let options = HTTPMethod(rawValue: "OPTIONS")

    /// Whether the name is a token (RFC 9110, section 5.6.2), as requests require.
    var isToken: Bool { self == .get || self == .post || !rawValue.isEmpty && rawValue.utf8.allSatisfy(ASCII.isToken) }

    /// Whether the method only reads, without changing the resource (RFC 9110, section 9.2.1).
    public var isSafe: Bool { self == .get || self == .head || self == .options || rawValue == "TRACE" }

    /// Whether sending a request twice has the same effect as sending it once (RFC 9110, section 9.2.2).
    public var isIdempotent: Bool { isSafe || self == .put || self == .delete }

    /// The method's name.
    public var description: String { rawValue }
}
