import ErrandMessageSyntax
import ErrandSupport

/// An HTTP method, such as `.get` or `"PROPFIND"` (RFC 9110, section 9). If the name isn't a token, building the
/// request throws ``ErrandError/Code/invalidRequest``.
public struct HTTPMethod: RawRepresentable, Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The case-sensitive name.
    public let rawValue: String

    /// Creates a method. Building a request checks the name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// Creates a method from a literal. Building a request checks the name.
    public init(stringLiteral value: String) { self.init(rawValue: value) }

    /// Reads a resource (RFC 9110, section 9.3.1).
    public static let get = HTTPMethod(rawValue: "GET")
    /// Reads a resource's header fields (RFC 9110, section 9.3.2).
    public static let head = HTTPMethod(rawValue: "HEAD")
    /// Asks a resource to process the request's body (RFC 9110, section 9.3.3).
    public static let post = HTTPMethod(rawValue: "POST")
    /// Creates or replaces a resource (RFC 9110, section 9.3.4).
    public static let put = HTTPMethod(rawValue: "PUT")
    /// Removes a resource (RFC 9110, section 9.3.5).
    public static let delete = HTTPMethod(rawValue: "DELETE")
    /// Changes parts of a resource (RFC 5789).
    public static let patch = HTTPMethod(rawValue: "PATCH")
    /// Asks how a resource can be used (RFC 9110, section 9.3.7).
    public static let options = HTTPMethod(rawValue: "OPTIONS")

    var isToken: Bool { self == .get || self == .post || !rawValue.isEmpty && rawValue.utf8.allSatisfy(ASCII.isToken) }

    /// Whether the method only reads the resource (RFC 9110, section 9.2.1).
    public var isSafe: Bool { self == .get || self == .head || self == .options || rawValue == "TRACE" }

    /// Whether sending a request twice has the same effect as sending it once (RFC 9110, section 9.2.2).
    public var isIdempotent: Bool { isSafe || self == .put || self == .delete }

    /// The name.
    public var description: String { rawValue }
}
