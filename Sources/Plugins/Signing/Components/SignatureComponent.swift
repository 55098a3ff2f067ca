public import ErrandHTTP
public import ErrandHTTPFields
import ErrandMessageSyntax

/// A part of a message that a signature covers (RFC 9421, section 2): a header field, or a derived component such as
/// the method.
///
/// ```swift
/// let components: [SignatureComponent] = [
///     "@method", "@target-uri", "content-digest", .queryParameter("page"), .field("cache-control").structured,
/// ]
/// ```
///
/// Two components are equal if they have the same parameters in any order.
public struct SignatureComponent: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The name in lower case. Names of derived components begin with `@`.
    public let name: String
    /// The parameters, in order.
    public let parameters: StructuredField.Parameters

    init(name: String, parameters: StructuredField.Parameters = [:]) {
        (self.name, self.parameters) = (name, parameters)
    }

    /// Creates a component from a field's name or a derived component's name, such as `@method`.
    public init(stringLiteral name: String) { self.init(name: Self.lowercased(name)) }

    /// Returns the component for all lines of a field.
    public static func field(_ name: HTTPHeaderName) -> SignatureComponent { Self(name: lowercased(name.rawName)) }

    /// The request's method (`@method`).
    public static let method: SignatureComponent = "@method"
    /// The request's URL without a fragment (`@target-uri`).
    public static let targetURI: SignatureComponent = "@target-uri"
    /// The URL's host and port, without the scheme's default port (`@authority`).
    public static let authority: SignatureComponent = "@authority"
    /// The URL's scheme (`@scheme`).
    public static let scheme: SignatureComponent = "@scheme"
    /// The target in the request line (`@request-target`).
    public static let requestTarget: SignatureComponent = "@request-target"
    /// The URL's path (`@path`).
    public static let path: SignatureComponent = "@path"
    /// The URL's query with its `?` (`@query`).
    public static let query: SignatureComponent = "@query"
    /// The response's status (`@status`).
    public static let status: SignatureComponent = "@status"

    /// Returns the component for a query parameter that occurs once. Pass the decoded name: `a b`, not `a%20b`.
    public static func queryParameter(_ name: String) -> SignatureComponent {
        Self(name: "@query-param", parameters: ["name": .string(encodedParameter(name))])
    }

    /// The field in the strict form of its structured type (`sf`). The signature then stays valid if an intermediary
    /// changes spaces in the field.
    public var structured: SignatureComponent { with("sf", .boolean(true)) }
    /// The field as the bytes of each of its lines (`bs`). Use it for values that aren't ASCII, and for fields whose
    /// lines can't be combined.
    public var binary: SignatureComponent { with("bs", .boolean(true)) }
    /// Returns the component for a single member of a dictionary field (`key`).
    public func member(_ key: String) -> SignatureComponent { with("key", .string(key)) }
    /// The field in the trailers (`tr`).
    public var inTrailers: SignatureComponent { with("tr", .boolean(true)) }
    /// The same component, but from the request that the response answers (`req`).
    public var ofRequest: SignatureComponent { with("req", .boolean(true)) }

    private func with(_ key: String, _ value: StructuredField.BareItem) -> SignatureComponent {
        var parameters = parameters
        parameters[key] = value
        return Self(name: name, parameters: parameters)
    }

    var isDerived: Bool { name.utf8.first == UInt8(ascii: "@") }
    func has(_ parameter: String) -> Bool { parameters[parameter] == .boolean(true) }
    var item: StructuredField.Item { StructuredField.Item(.string(name), parameters: parameters) }

    /// The identifier in the signature base, such as `"cache-control";sf`.
    public var description: String { (try? item.serialized()) ?? "an invalid component" }

    /// Compares the names, and the parameters in any order.
    public static func == (a: SignatureComponent, b: SignatureComponent) -> Bool {
        a.name == b.name && a.parameters.all.count == b.parameters.all.count
            && a.parameters.all.allSatisfy { b.parameters[$0.key] == $0.value }
    }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// The percent-encoding of forms (WHATWG URL, section 1.3), but with `%20` for spaces.
    static func encodedParameter(_ text: String) -> String {
        PercentEncoding.encode(text) { ASCII.isAlphanumeric($0) || "*-._".utf8.contains($0) }
    }

    static func lowercased(_ text: String) -> String {
        String(decoding: text.utf8.map(ASCII.lowercase), as: UTF8.self)
    }
}
