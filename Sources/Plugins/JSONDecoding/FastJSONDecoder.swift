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

/// The encoding of a JSON text, by its byte order mark or by where zeros stand among its first bytes (RFC 4627, section 3).
enum TextEncoding {
    /// The text in UTF-8 and without its byte order mark.
    static func utf8(_ data: Data) throws(JSONDecodingError) -> [UInt8] {
        let bytes = Array(data)
        let (encoding, mark) = detect(bytes)
        if encoding == .utf8 { return mark == 0 ? bytes : Array(bytes.dropFirst(mark)) }
        guard let converted = String(bytes: bytes.dropFirst(mark), encoding: encoding) else {
            throw JSONDecodingError(
                .invalidEncoding, "text in the encoding of its first bytes expected", byte: 0)
        }
        return Array(converted.utf8)
    }

    /// The encoding, and how many bytes its mark takes.
    private static func detect(_ bytes: [UInt8]) -> (String.Encoding, mark: Int) {
        let count = bytes.count
        // The common case: neither a zero nor a mark.
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
        // Two bytes are a digit in UTF-16; three are in no encoding of more than one byte.
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
