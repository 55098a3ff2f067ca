import ErrandSupport
import ErrandHTTPSyntax

/// A header's name: any case is the same name, and it is sent as it was written (RFC 9110, section 5.1).
public struct HTTPHeaderName: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name as it was written.
    public let rawName: String

    /// A name of any spelling; it is checked when a request is sent.
    public init(_ rawName: String) { self.rawName = rawName }
    /// A name of any spelling.
    public init(stringLiteral value: String) { self.init(value) }

    /// RFC 9110, section 12.5.1.
    public static let accept: HTTPHeaderName = "Accept"
    /// RFC 9110, section 12.5.4.
    public static let acceptLanguage: HTTPHeaderName = "Accept-Language"
    /// RFC 9110, section 11.6.2; sensitive.
    public static let authorization: HTTPHeaderName = "Authorization"
    /// RFC 9110, section 8.4.
    public static let contentEncoding: HTTPHeaderName = "Content-Encoding"
    /// RFC 9110, section 8.6; the transport sets it.
    public static let contentLength: HTTPHeaderName = "Content-Length"
    /// RFC 9110, section 8.3.
    public static let contentType: HTTPHeaderName = "Content-Type"
    /// RFC 6265, section 4.2; sensitive.
    public static let cookie: HTTPHeaderName = "Cookie"
    /// RFC 9110, section 7.2; the transport sets it unless a request does.
    public static let host: HTTPHeaderName = "Host"
    /// RFC 9110, section 10.2.2.
    public static let location: HTTPHeaderName = "Location"
    /// RFC 9110, section 11.7.2; sensitive.
    public static let proxyAuthorization: HTTPHeaderName = "Proxy-Authorization"
    /// RFC 6265, section 4.1; sensitive.
    public static let setCookie: HTTPHeaderName = "Set-Cookie"
    /// RFC 9112, section 6.1; the transport sets it.
    public static let transferEncoding: HTTPHeaderName = "Transfer-Encoding"
    /// RFC 9110, section 10.1.5.
    public static let userAgent: HTTPHeaderName = "User-Agent"

    /// Whether it is `Content-Length` or `Transfer-Encoding`. By the length first: every header of every request is asked.
    var isFraming: Bool {
        switch rawName.utf8.count {
        case 14: self == .contentLength
        case 17: self == .transferEncoding
        default: false
        }
    }

    /// Whether it may stand in a message: one or more token characters.
    public var isValid: Bool { !rawName.isEmpty && rawName.utf8.allSatisfy(ASCII.isToken) }

    /// Whether a header of this name holds a secret by definition: credentials and cookies.
    public var isSensitive: Bool {
        self == .authorization || self == .cookie || self == .setCookie || self == .proxyAuthorization
    }

    /// Whether two names are the same but for the case of their letters.
    public static func == (a: HTTPHeaderName, b: HTTPHeaderName) -> Bool {
        ASCII.equalsIgnoringCase(a.rawName, b.rawName)
    }

    /// Takes in the name in lower case.
    public func hash(into hasher: inout Hasher) {
        for byte in rawName.utf8 { hasher.combine(ASCII.lowercase(byte)) }
    }

    /// The name as it was written.
    public var description: String { rawName }
}
