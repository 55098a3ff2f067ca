public import Errand
public import ErrandEssentials

/// A JSON decoder that is several times as fast as `JSONDecoder`. It has the same strategies, results and errors.
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
/// The decoder checks the whole text against RFC 8259 before it decodes values. A text can have up to 1 GiB and 512
/// levels of arrays and objects. The decoder detects UTF-8, UTF-16 and UTF-32 as `JSONDecoder` does.
///
/// The decoder is a struct, so each copy has its own settings. Any number of tasks can use a decoder at the same time.
public struct FastJSONDecoder: BodyDecoder {
    /// How to decode dates. Defaults to `.deferredToDate`.
    public var dateDecodingStrategy: JSONDecoder.DateDecodingStrategy = .deferredToDate
    /// How to decode `Data`. Defaults to `.base64`.
    public var dataDecodingStrategy: JSONDecoder.DataDecodingStrategy = .base64
    /// How to decode strings that represent infinity and NaN. Defaults to `.throw`.
    public var nonConformingFloatDecodingStrategy: JSONDecoder.NonConformingFloatDecodingStrategy = .throw
    /// How to convert the text's keys to coding keys. Defaults to `.useDefaultKeys`.
    public var keyDecodingStrategy: JSONDecoder.KeyDecodingStrategy = .useDefaultKeys
    /// Values that a type's `init(from:)` can read from its decoder. Empty by default.
    public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

    /// Creates a decoder with the default strategies of `JSONDecoder`.
    public init() {}

    /// Returns ``Errand/ContentTypes/json``.
    public var contentTypes: ContentTypes { .json }

    /// Decodes a value from a JSON text, which may be a fragment such as `7`.
    ///
    /// Throws the same `DecodingError` as `JSONDecoder`, with the same case and coding path. If the text isn't JSON or
    /// a number doesn't fit its type, the underlying error is a ``JSONDecodingError``. Errors from the type's own
    /// `init(from:)` are thrown unchanged.
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
    /// A ``FastJSONDecoder`` with the default strategies.
    public static var fast: FastJSONDecoder { FastJSONDecoder() }
}

/// Detects a JSON text's encoding by its byte order mark or the zeros in its first bytes (RFC 4627, section 3).
enum TextEncoding {
    /// Removes the byte order mark.
    static func utf8(_ data: Data) throws(JSONDecodingError) -> [UInt8] {
        let bytes = Array(data)
        let (encoding, mark) = detect(bytes)
        if encoding == .utf8 { return mark == 0 ? bytes : Array(bytes.dropFirst(mark)) }
        guard let converted = String(bytes: bytes.dropFirst(mark), encoding: encoding) else {
            throw JSONDecodingError(
                .invalidEncoding, "expected text in the encoding that its first bytes indicate", byte: 0)
        }
        return Array(converted.utf8)
    }

    private static func detect(_ bytes: [UInt8]) -> (String.Encoding, mark: Int) {
        let count = bytes.count
        // The common case: no zeros and no byte order mark.
        if count < 2 || bytes[0] != 0 && bytes[1] != 0 && bytes[0] < 0xEF { return (.utf8, 0) }
        let (a, b) = (bytes[0], bytes[1])
        let (c, d) = (count > 2 ? bytes[2] : 1, count > 3 ? bytes[3] : 1)
        switch (a, b, c, d) {
        case (0, 0, 0xFE, 0xFF): return (.utf32BigEndian, 4)
        case (0xFE, 0xFF, 0, 0): return (.utf32LittleEndian, 4)
        case (0xFE, 0xFF, _, _): return (.utf16BigEndian, 2)
        case (0xFF, 0xFE, _, _): return (.utf16LittleEndian, 2)
        case (0xEF, 0xBB, 0xBF, _): return (.utf8, 3)
        default: break
        }
        // Two bytes can be one digit in UTF-16. Three bytes can only be UTF-8.
        if count == 3 { return (.utf8, 0) }
        let isShort = count == 2
        switch (a == 0, b == 0, isShort ? a == 0 : c == 0, isShort ? b == 0 : d == 0) {
        case (true, true, true, false): return (.utf32BigEndian, 0)
        case (true, false, true, false): return (.utf16BigEndian, 0)
        case (false, true, true, true): return (.utf32LittleEndian, 0)
        case (false, true, false, true): return (.utf16LittleEndian, 0)
        default: return (.utf8, 0)
        }
    }
}
