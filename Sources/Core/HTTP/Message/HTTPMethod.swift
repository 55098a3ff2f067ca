import ErrandMessageSyntax
import ErrandSupport

/// An HTTP method, such as `.get` or `"PROPFIND"` (RFC 9110, section 9).
///
/// The name is sent as written. If it isn't a token, the request throws ``ErrandError/Code/invalidRequest`` when it is
/// built.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name as sent, which is case-sensitive.
    public let rawValue: String

    /// Creates a method with any name, such as "PROPFIND". It's checked when the request is built.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Creates a method from a string literal. It's checked when the request is built.
    public init(stringLiteral value: String) { self.init(rawValue: value) }

    /// The GET method, which reads a resource (RFC 9110, section 9.3.1).
    public static let get = HTTPMethod(rawValue: "GET")
    /// The HEAD method, which reads only the header fields of a resource (RFC 9110, section 9.3.2).
    public static let head = HTTPMethod(rawValue: "HEAD")
    /// The POST method, which lets a resource process the request's body (RFC 9110, section 9.3.3).
    public static let post = HTTPMethod(rawValue: "POST")
    /// The PUT method, which creates or replaces a resource (RFC 9110, section 9.3.4).
    public static let put = HTTPMethod(rawValue: "PUT")
    /// The DELETE method, which removes a resource (RFC 9110, section 9.3.5).
    public static let delete = HTTPMethod(rawValue: "DELETE")
    /// The PATCH method, which changes parts of a resource (RFC 5789).
    public static let patch = HTTPMethod(rawValue: "PATCH")
    /// The OPTIONS method, which asks how a resource can be used (RFC 9110, section 9.3.7).
    public static let options = HTTPMethod(rawValue: "OPTIONS")

    /// Whether the name is a token (RFC 9110, section 5.6.2), as requests require.
    var isToken: Bool { self == .get || self == .post || !rawValue.isEmpty && rawValue.utf8.allSatisfy(ASCII.isToken) }

    /// Whether the method only reads, without changing the resource (RFC 9110, section 9.2.1).
    public var isSafe: Bool { self == .get || self == .head || self == .options || rawValue == "TRACE" }

    /// Whether sending a request twice has the same effect as sending it once (RFC 9110, section 9.2.2).
    public var isIdempotent: Bool { isSafe || self == .put || self == .delete }

    /// The name of the method.
    public var description: String { rawValue }
}
