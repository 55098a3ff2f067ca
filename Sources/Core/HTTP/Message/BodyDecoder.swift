public import ErrandEssentials

/// Reads values from response bodies, in JSON by default or in any other format. Adopt it for a type that has a
/// `decode` method like `JSONDecoder`'s:
///
/// ```swift
/// extension CBORDecoder: BodyDecoder {
///     public var contentTypes: ContentTypes { ["application/cbor"] }
/// }
/// agent.configure { $0.decoder = CBORDecoder() }
/// ```
///
/// Called off the caller's actor, concurrently for several responses.
public protocol BodyDecoder: Sendable {
    /// The content types that the decoder reads. A request with a `Decodable` output accepts them by default.
    var contentTypes: ContentTypes { get }
    /// Decodes a value from a body. An error becomes the `underlying` error of ``ErrandError/Code/decodingFailed``.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

/// Writes values to request bodies, in JSON by default or in any other format.
public protocol BodyEncoder: Sendable {
    /// The media type that the encoder writes. Sent as `Content-Type` unless the request specifies another.
    var contentType: String { get }
    /// Encodes a value as a body. An error becomes the `underlying` error of ``ErrandError/Code/encodingFailed``.
    func encode<Value: Encodable>(_ value: Value) throws -> Data
}

extension JSONDecoder: BodyDecoder {
    /// Returns ``ContentTypes/json``.
    public var contentTypes: ContentTypes { .json }
}

extension JSONEncoder: BodyEncoder {
    /// Returns "application/json".
    public var contentType: String { "application/json" }
}
