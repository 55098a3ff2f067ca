public import Errand
public import ErrandEssentials

/// Decodes values from JSON, several times as fast as `JSONDecoder`, with the same strategies, values and errors.
///
/// ```swift
/// agent.configure {
///     var decoder = FastJSONDecoder()
///     decoder.keyDecodingStrategy = .convertFromSnakeCase
///     decoder.dateDecodingStrategy = .iso8601
///     $0.decoder = decoder
/// }
/// ```
///
/// The whole text is checked against RFC 8259 before anything is decoded, so a fault is found wherever it stands. A text has
/// up to 1 GiB and up to 512 levels of arrays and objects. UTF-8, UTF-16 and UTF-32 are recognized as by `JSONDecoder`.
///
/// A value: a copy has settings of its own, and any number of tasks may decode with it at once.
public struct FastJSONDecoder: BodyDecoder {
    /// The reading of dates; `.deferredToDate` by default.
    public var dateDecodingStrategy: JSONDecoder.DateDecodingStrategy = .deferredToDate
    /// The reading of `Data`; `.base64` by default.
    public var dataDecodingStrategy: JSONDecoder.DataDecodingStrategy = .base64
    /// The strings that stand for infinity and NaN; `.throw` by default.
    public var nonConformingFloatDecodingStrategy: JSONDecoder.NonConformingFloatDecodingStrategy = .throw
    /// The way from the keys of the text to those of the types; `.useDefaultKeys` by default.
    public var keyDecodingStrategy: JSONDecoder.KeyDecodingStrategy = .useDefaultKeys
    /// Context for the `init(from:)` of types; empty by default.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Creates a decoder with the default strategies.
    public init() {}

    /// ``Errand/ContentTypes/json``
    public var contentTypes: ContentTypes { .json }

    /// Returns a value from a JSON text, a fragment such as `7` among them.
    ///
    /// Throws the `DecodingError` that `JSONDecoder` throws: of the same case, with the same coding path. That of a text which
    /// is not JSON, or of a number that its type cannot hold, has a ``JSONDecodingError`` as its underlying error. An error that
    /// the type itself throws comes as it is.
    public func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        let document: JSONDocument
        do throws(JSONDecodingError) {
            document = try JSONDocument(TextEncoding.utf8(data), options: self)
        } catch {
            throw error.decodingError
        }
        return try ValueFrame(document).decode(type)
    }
}

extension BodyDecoder where Self == FastJSONDecoder {
    /// JSON by a ``FastJSONDecoder`` with the default strategies.
    ///
    /// ```swift
    /// agent.configure { $0.decoder = .fast }
    /// ```
    public static var fast: FastJSONDecoder { FastJSONDecoder() }
}
