import ErrandSupport
import ErrandHTTPSyntax

/// A header's name: any case is the same name, and it is sent as it was written (RFC 9110, section 5.1).
public struct HTTPHeaderName: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    public let rawName: String

    public init(_ rawName: String) { self.rawName = rawName }
    public init(stringLiteral value: String) { self.init(value) }

    public static let accept: HTTPHeaderName = "Accept"
    public static let acceptLanguage: HTTPHeaderName = "Accept-Language"
    public static let authorization: HTTPHeaderName = "Authorization"
    public static let contentEncoding: HTTPHeaderName = "Content-Encoding"
    public static let contentLength: HTTPHeaderName = "Content-Length"
    public static let contentType: HTTPHeaderName = "Content-Type"
    public static let cookie: HTTPHeaderName = "Cookie"
    public static let host: HTTPHeaderName = "Host"
    public static let location: HTTPHeaderName = "Location"
    public static let proxyAuthorization: HTTPHeaderName = "Proxy-Authorization"
    public static let setCookie: HTTPHeaderName = "Set-Cookie"
    public static let transferEncoding: HTTPHeaderName = "Transfer-Encoding"
    public static let userAgent: HTTPHeaderName = "User-Agent"

    /// Whether it may stand in a message: one or more token characters.
    public var isValid: Bool { !rawName.isEmpty && rawName.utf8.allSatisfy(ASCII.isToken) }

    /// Whether a header of this name holds a secret by definition: credentials and cookies.
    public var isSensitive: Bool {
        self == .authorization || self == .cookie || self == .setCookie || self == .proxyAuthorization
    }

    public static func == (a: HTTPHeaderName, b: HTTPHeaderName) -> Bool {
        ASCII.equalsIgnoringCase(a.rawName, b.rawName)
    }

    public func hash(into hasher: inout Hasher) {
        for byte in rawName.utf8 { hasher.combine(ASCII.lowercase(byte)) }
    }

    public var description: String { rawName }
}
