public import ErrandEssentials
import ErrandMessageSyntax
import ErrandSupport

/// One request as it goes over the wire.
public struct HTTPRequest: Sendable {
    private var fields: CopyOnWrite<Fields>

    private struct Fields {
        var method: HTTPMethod
        var url: MessageURL
        var headers: HTTPHeaders
        var body: RequestBody
    }

    /// The method.
    public var method: HTTPMethod {
        get { fields.value.method }
        set { fields.value.method = newValue }
    }
    /// Absolute, `http` or `https`, without credentials.
    public var url: URL {
        get { fields.value.url.url }
        set { fields.value.url = .given(newValue) }
    }
    /// The text of ``url``, for transports and logs: a request that Core has built has it without parsing.
    public var urlText: String { fields.value.url.text }
    /// The host of ``url`` in lower case, for accessories: of a request that Core has built, without parsing. Nil where
    /// the URL has none.
    public var host: String? {
        switch fields.value.url {
        case .given(let url): url.host?.lowercased()
        case .checked(let checked): checked.host
        }
    }
    /// The header fields, without those that the transport adds.
    public var headers: HTTPHeaders {
        get { fields.value.headers }
        set { fields.value.headers = newValue }
        _modify { yield &fields.value.headers }
    }
    /// The body.
    public var body: RequestBody {
        get { fields.value.body }
        set { fields.value.body = newValue }
    }

    /// Makes a request; GET without headers and body by default.
    public init(_ method: HTTPMethod = .get, _ url: URL, headers: HTTPHeaders = [:], body: RequestBody = .none) {
        fields = CopyOnWrite(
            Fields(method: method, url: .given(url), headers: headers, body: body))
    }

    /// The same, with a URL whose text was checked.
    package init(_ method: HTTPMethod, to url: CheckedURL, headers: HTTPHeaders, body: RequestBody) {
        fields = CopyOnWrite(
            Fields(method: method, url: .checked(url), headers: headers, body: body))
    }

    var messageURL: MessageURL { fields.value.url }

    /// Throws unless the request can be sent as exactly one: a method and header names that are tokens (RFC 9110,
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
                throw ErrandError(.invalidRequest, "Transfer-Encoding is the transport's to set")
            }
            if field.value != body.length.map(String.init) {
                throw ErrandError(.invalidRequest, "Content-Length is not the body's")
            }
        }
    }
}

extension HTTPRequest: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Method and URL, with the values that ``Redaction`` masks by default; no header, no body.
    public var description: String {
        let name = method.isToken ? method.rawValue : method.rawValue.debugDescription
        return "\(name) \(Redaction.masked(urlText))"
    }
    /// The same as `description`, so that no dump shows more.
    public var debugDescription: String { description }
    /// Empty: children would show what the description masks.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
