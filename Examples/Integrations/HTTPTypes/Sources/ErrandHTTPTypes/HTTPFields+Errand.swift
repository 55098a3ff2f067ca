public import Errand
public import HTTPTypes

extension HTTPFields {
    /// Converts header fields to swift-http-types. Order, spelling of names, and the bytes of values stay the same.
    /// Sensitive fields get the indexing strategy `.disallow`, so no proxy stores them in its table (RFC 7541, section
    /// 7.1.3).
    ///
    /// Throws ``HTTPTypesError`` for names and values that no message may contain, which swift-http-types would replace
    /// with blanks, and for more fields than it holds.
    public init(_ headers: HTTPHeaders) throws(HTTPTypesError) {
        self.init()
        guard headers.count < Self.maximumCount else {
            throw HTTPTypesError(.tooManyFields, "\(headers.count) fields, of fewer than \(Self.maximumCount) possible")
        }
        for field in headers { append(try HTTPField(field)) }
    }

    /// swift-http-types traps at this number of fields.
    private static var maximumCount: Int { Int(UInt16.max) }
}

extension HTTPField {
    /// Converts one field; see ``HTTPTypes/HTTPFields/init(_:)``.
    init(_ field: HTTPHeaders.Field) throws(HTTPTypesError) {
        guard let name = Name(field.name.rawName) else {
            throw HTTPTypesError(
                .invalidName,
                "the header name \(field.name.rawName.debugDescription) has a character that header names can't have")
        }
        let bytes = field.isLatin1 ? field.value.latin1 : Array(field.value.utf8)
        guard let bytes, HTTPField.isValidValue(bytes) else {
            throw HTTPTypesError(
                .invalidValue, "the value of \(field.name) has a character that field values can't have")
        }
        self.init(name: name, value: bytes)
        if field.isSensitive { indexingStrategy = .disallow }
    }
}

extension HTTPHeaders {
    /// Converts header fields or trailers from swift-http-types. Order, spelling of names, and the bytes of values stay
    /// the same. A value that isn't UTF-8 is marked as Latin-1, and a field with the indexing strategy `.disallow` as
    /// sensitive. The other strategies are lost.
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
    /// The text's bytes in Latin-1, or nil if a character isn't in Latin-1.
    fileprivate var latin1: [UInt8]? {
        var bytes: [UInt8] = []
        for scalar in unicodeScalars {
            guard let byte = UInt8(exactly: scalar.value) else { return nil }
            bytes.append(byte)
        }
        return bytes
    }
}
