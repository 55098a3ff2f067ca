public import ErrandHTTP
public import ErrandHTTPFields
import ErrandMessageSyntax

/// A part of a message that a signature covers (RFC 9421, section 2): a field, or a component derived from the message.
///
/// ```swift
/// let components: [SignatureComponent] = [
///     "@method", "@target-uri", "content-digest", .queryParameter("page"), .field("cache-control").structured,
/// ]
/// ```
///
/// Two components are equal if they have the same parameters in any order.
public struct SignatureComponent: Sendable, Hashable, ExpressibleByStringLiteral, CustomStringConvertible {
    /// The component's name in lower case. Names of derived components begin with `@`.
    public let name: String
    /// The component's parameters, in their order.
    public let parameters: StructuredField.Parameters

    init(name: String, parameters: StructuredField.Parameters = [:]) {
        (self.name, self.parameters) = (name, parameters)
    }

    /// Creates a component without parameters: the name of a field, or a derived component such as `@method`.
    public init(stringLiteral name: String) { self.init(name: Self.lowercased(name)) }

    /// Returns the component of a field, with all of its lines.
    public static func field(_ name: HTTPHeaderName) -> SignatureComponent { Self(name: lowercased(name.rawName)) }

    /// The component `@method`: the request's method.
    public static let method: SignatureComponent = "@method"
    /// The component `@target-uri`: the request's whole URL, without a fragment.
    public static let targetURI: SignatureComponent = "@target-uri"
    /// The component `@authority`: the URL's host, with its port unless that is the scheme's default.
    public static let authority: SignatureComponent = "@authority"
    /// The component `@scheme`: the scheme of the URL.
    public static let scheme: SignatureComponent = "@scheme"
    /// The component `@request-target`: the target as it's written in the request line.
    public static let requestTarget: SignatureComponent = "@request-target"
    /// The component `@path`: the path of the URL.
    public static let path: SignatureComponent = "@path"
    /// The component `@query`: the query of the URL, beginning with `?`.
    public static let query: SignatureComponent = "@query"
    /// The component `@status`: the status of a response.
    public static let status: SignatureComponent = "@status"

    /// Returns the component of a query parameter, which must occur once. The name is decoded: `a b`, not `a%20b`.
    public static func queryParameter(_ name: String) -> SignatureComponent {
        Self(name: "@query-param", parameters: ["name": .string(encodedParameter(name))])
    }

    /// The field in the strict form of its structured type (`sf`), so intermediaries can change its spaces.
    public var structured: SignatureComponent { with("sf", .boolean(true)) }
    /// Each line of the field as bytes (`bs`), for fields whose lines can't be combined, and for values that aren't
    /// ASCII.
    public var binary: SignatureComponent { with("bs", .boolean(true)) }
    /// Returns the component of one member of the field, which must be a dictionary (`key`).
    public func member(_ key: String) -> SignatureComponent { with("key", .string(key)) }
    /// The field in the trailers (`tr`).
    public var inTrailers: SignatureComponent { with("tr", .boolean(true)) }
    /// The component of the request that a response belongs to (`req`).
    public var ofRequest: SignatureComponent { with("req", .boolean(true)) }

    private func with(_ key: String, _ value: StructuredField.BareItem) -> SignatureComponent {
        var parameters = parameters
        parameters[key] = value
        return Self(name: name, parameters: parameters)
    }

    /// Whether it is derived from the message, not a field.
    var isDerived: Bool { name.utf8.first == UInt8(ascii: "@") }
    func has(_ parameter: String) -> Bool { parameters[parameter] == .boolean(true) }
    var item: StructuredField.Item { StructuredField.Item(.string(name), parameters: parameters) }

    /// The identifier in a signature base: `"cache-control";sf`. If the name can't be written, it's left out.
    public var description: String { (try? item.serialized()) ?? "an invalid component" }

    /// Compares the names and the parameters in any order.
    public static func == (a: SignatureComponent, b: SignatureComponent) -> Bool {
        a.name == b.name && a.parameters.all.count == b.parameters.all.count
            && a.parameters.all.allSatisfy { b.parameters[$0.key] == $0.value }
    }

    /// Hashes the name.
    public func hash(into hasher: inout Hasher) { hasher.combine(name) }

    /// The percent-encoding of forms, with `%20` for spaces (WHATWG URL, section 1.3).
    static func encodedParameter(_ text: String) -> String {
        PercentEncoding.encode(text) { ASCII.isAlphanumeric($0) || "*-._".utf8.contains($0) }
    }

    static func lowercased(_ text: String) -> String {
        String(decoding: text.utf8.map(ASCII.lowercase), as: UTF8.self)
    }
}
