public import Errand
public import HTTPTypes

extension HTTPFields {
    /// Header fields as swift-http-types has them: the same fields in the same order, names as they were written, values byte
    /// by byte. A field that is sensitive gets the indexing strategy `.disallow`, so that no proxy stores it in its table
    /// (RFC 7541, section 7.1.3).
    ///
    /// Throws ``HTTPTypesError`` for a name or a value that no message may contain, where swift-http-types would put blanks,
    /// and for more fields than it holds.
    public init(_ headers: HTTPHeaders) throws(HTTPTypesError) {
        self.init()
        guard headers.count < Self.maximumCount else {
            throw HTTPTypesError(.tooManyFields, "\(headers.count) fields, of fewer than \(Self.maximumCount) possible")
        }
        for field in headers { append(try HTTPField(field)) }
    }

    /// swift-http-types ends the program at this number of fields.
    private static var maximumCount: Int { Int(UInt16.max) }
}

extension HTTPField {
    /// One field; see ``HTTPTypes/HTTPFields/init(_:)``.
    init(_ field: HTTPHeaders.Field) throws(HTTPTypesError) {
        guard let name = Name(field.name.rawName) else {
            throw HTTPTypesError(.invalidName, "the name \(field.name.rawName.debugDescription) is not a token")
        }
        let bytes = field.isLatin1 ? field.value.latin1 : Array(field.value.utf8)
        guard let bytes, HTTPField.isValidValue(bytes) else {
            throw HTTPTypesError(.invalidValue, "the value of \(field.name) has a character that no field may contain")
        }
        self.init(name: name, value: bytes)
        if field.isSensitive { indexingStrategy = .disallow }
    }
}

extension HTTPHeaders {
    /// Header fields or trailers of swift-http-types: the same fields in the same order, names as they were written, values
    /// byte by byte. A value that is not UTF-8 is marked as Latin-1, and a field with the indexing strategy `.disallow` as
    /// sensitive; the other strategies have no counterpart.
    public init(_ fields: HTTPFields) {
        self.init(
            fields.map { field in
                let text = field.withUnsafeBytesOfValue { String(validating: $0, as: UTF8.self) }
                var converted = Field(
                    HTTPHeaderName(field.name.rawName), text ?? field.latin1Value,
                    sensitive: field.indexingStrategy == .disallow)
                converted.isLatin1 = text == nil
                return converted
            })
    }
}

extension HTTPField {
    fileprivate var latin1Value: String {
        withUnsafeBytesOfValue { bytes in
            var text = String.UnicodeScalarView()
            text.append(contentsOf: bytes.lazy.map { Unicode.Scalar($0) })
            return String(text)
        }
    }
}

extension String {
    /// The bytes in Latin-1; nil where a character has none.
    fileprivate var latin1: [UInt8]? {
        var bytes: [UInt8] = []
        for scalar in unicodeScalars {
            guard let byte = UInt8(exactly: scalar.value) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}
