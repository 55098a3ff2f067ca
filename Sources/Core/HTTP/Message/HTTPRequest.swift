public import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

/// A complete HTTP request, as filters and transports receive it.
public struct HTTPRequest: Sendable {
    private var fields: CopyOnWrite<Fields>

    private struct Fields {
        var method: HTTPMethod
        var url: MessageURL
        var headers: HTTPHeaders
        var body: RequestBody
    }

    /// The method, such as GET or POST.
    public var method: HTTPMethod {
        get { fields.value.method }
        set { fields.value.method = newValue }
    }
    /// An absolute `http` or `https` URL without credentials.
    public var url: URL {
        get { fields.value.url.url }
        set { fields.value.url = .given(newValue) }
    }
    /// The text of ``url``. Reading it is fast for requests that Core built.
    public var urlText: String { fields.value.url.text }
    /// The lowercase host of ``url``, or `nil` without a host. Reading it is fast for requests that Core built.
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
    /// The body to send. Core sets its `Content-Type` header when it builds the request.
    public var body: RequestBody {
        get { fields.value.body }
        set { fields.value.body = newValue }
    }

    /// Creates a request. Defaults to GET without headers or a body.
    public init(_ method: HTTPMethod = .get, _ url: URL, headers: HTTPHeaders = [:], body: RequestBody = .none) {
        fields = CopyOnWrite(
            Fields(method: method, url: .given(url), headers: headers, body: body))
    }

    package init(_ method: HTTPMethod, to url: CheckedURL, headers: HTTPHeaders, body: RequestBody) {
        fields = CopyOnWrite(
            Fields(method: method, url: .checked(url), headers: headers, body: body))
    }

    var messageURL: MessageURL { fields.value.url }

    /// Returns whether two requests have the same URL object. If not, their URLs can still be equal.
    package func sharesURL(with other: HTTPRequest) -> Bool {
        guard case .checked(let own) = fields.value.url, case .checked(let others) = other.fields.value.url else {
            return false
        }
        return own === others
    }

    /// Checks that the request is well-formed and can't be read as more than one request:
    ///
    /// - The method and header names are tokens (RFC 9110, section 5.6.2).
    /// - Header values contain no control characters (section 5.5).
    /// - The headers contain no `Transfer-Encoding`, and no `Content-Length` other than the body's.
    /// - The URL is absolute, `http` or `https`.
    ///
    /// Throws ``ErrandError``. Core calls this method after all filters.
    public func validate() throws {
        do { try check() } catch var error as ErrandError {
            error.request = self
            throw error
        }
    }

    private func check() throws {
        guard method.isToken else {
            throw ErrandError(
                .invalidRequest,
                "the method \(method.rawValue.debugDescription) has a character that methods can't have")
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
    /// The method and URL, with secrets masked.
    public var description: String {
        let name = method.isToken ? method.rawValue : method.rawValue.debugDescription
        return "\(name) \(Redaction.masked(urlText))"
    }
    /// Returns `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
