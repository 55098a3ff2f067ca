/// The media types that a request accepts. A response without a body or a `Content-Type` is always accepted (RFC 9110,
/// section 8.3).
public struct ContentTypes: Sendable, Hashable, ExpressibleByArrayLiteral, CustomStringConvertible {
    private var names: [String]?

    private init(names: [String]?) { self.names = names }
    /// Creates a list of types such as `"text/html"` or `"image/*"`.
    public init(arrayLiteral elements: String...) { names = elements.map { $0.lowercased() } }

    /// Every media type. The default for `Data`, `String`, `Void` and `HTTPResponse`.
    public static let any = ContentTypes(names: nil)
    /// `application/json`, `text/json`, `text/javascript` and every `…+json` (RFC 6839). The default for `Decodable`,
    /// unless the decoder reads another format.
    public static let json: ContentTypes = ["application/json", "text/json", "text/javascript", "*/*+json"]
    /// `application/xml`, `text/xml` and every `…+xml` (RFC 7303).
    public static let xml: ContentTypes = ["application/xml", "text/xml", "*/*+xml"]

    package func resolved(by decoder: any BodyDecoder) -> ContentTypes { self == .json ? decoder.contentTypes : self }

    /// Returns the media types that either operand accepts.
    public static func + (a: ContentTypes, b: ContentTypes) -> ContentTypes {
        guard let x = a.names, let y = b.names else { return .any }
        return ContentTypes(names: x + y)
    }

    /// Returns whether a media type such as "text/html" is accepted.
    public func contains(_ mediaType: String) -> Bool {
        guard let names else { return true }
        let type = mediaType.lowercased()
        return names.contains { name in
            if name == type || name == "*/*" { return true }
            if name.hasSuffix("/*") { return type.hasPrefix(name.dropLast()) }
            return name.hasPrefix("*/*+") && type.hasSuffix(name.dropFirst(3))
        }
    }

    /// The types, separated by commas.
    public var description: String { names?.joined(separator: ", ") ?? "*/*" }
}
