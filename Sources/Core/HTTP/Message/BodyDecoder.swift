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
