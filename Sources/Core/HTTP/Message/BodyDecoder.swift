public import ErrandEssentials

/// Reads values from the bodies of responses: JSON by default, or any other format.
///
/// A type with the method of `JSONDecoder` conforms by naming the protocol and its content types:
///
/// ```swift
/// extension CBORDecoder: BodyDecoder {
///     public var contentTypes: ContentTypes { ["application/cbor"] }
/// }
/// agent.configure { $0.decoder = CBORDecoder() }
/// ```
///
/// Called off the caller's actor, for several responses at once.
public protocol BodyDecoder: Sendable {
    /// The content types that it reads, which a `Decodable` output accepts by default.
    var contentTypes: ContentTypes { get }
    /// Reads a value. Its error becomes the `underlying` one of an error with the code
    /// ``ErrandError/Code/decodingFailed``.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

/// Writes values into the bodies of requests: JSON by default, or any other format.
public protocol BodyEncoder: Sendable {
    /// Sent as `Content-Type` unless the request says otherwise.
    var contentType: String { get }
    /// Writes a value. Its error becomes the `underlying` one of an error with the code
    /// ``ErrandError/Code/encodingFailed``.
    func encode<Value: Encodable>(_ value: Value) throws -> Data
}

extension JSONDecoder: BodyDecoder {
    /// ``ContentTypes/json``
    public var contentTypes: ContentTypes { .json }
}

extension JSONEncoder: BodyEncoder {
    /// `application/json`
    public var contentType: String { "application/json" }
}

/// The media types that a request accepts.
///
/// A response without a body or without a `Content-Type` passes (RFC 9110, section 8.3).
public struct ContentTypes: Sendable, Hashable, ExpressibleByArrayLiteral, CustomStringConvertible {
    private var names: [String]?

    private init(names: [String]?) { self.names = names }
    /// Types such as `"text/html"` or `"image/*"`.
    public init(arrayLiteral elements: String...) { names = elements.map { $0.lowercased() } }

    /// Any type. The default for `Data`, `String`, `Void` and `HTTPResponse`.
    public static let any = ContentTypes(names: nil)
    /// `application/json`, `text/json`, `text/javascript` and every `…+json` (RFC 6839). The default for `Decodable`,
    /// unless the decoder of the request or of its agent reads another format.
    public static let json: ContentTypes = ["application/json", "text/json", "text/javascript", "*/*+json"]
    /// `application/xml`, `text/xml` and every `…+xml` (RFC 7303).
    public static let xml: ContentTypes = ["application/xml", "text/xml", "*/*+xml"]

    /// The same types, or those of the decoder in place of ``json``.
    package func resolved(by decoder: any BodyDecoder) -> ContentTypes { self == .json ? decoder.contentTypes : self }

    /// The types of both.
    public static func + (a: ContentTypes, b: ContentTypes) -> ContentTypes {
        guard let x = a.names, let y = b.names else { return .any }
        return ContentTypes(names: x + y)
    }

    /// Whether a response of this media type ("text/html") is accepted.
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
