import ErrandEssentials
import ErrandHTTP
public import ErrandMessageSyntax

/// The value of a `Content-Disposition` field (RFC 6266): how to show a response, and its file name.
///
/// ```swift
/// ContentDisposition(parsing: #"attachment; filename="a.txt"; filename*=UTF-8''%C3%A4.txt"#).fileName    // "ä.txt"
/// ContentDisposition(fileName: "ä.txt").description
/// ```
public struct ContentDisposition: Sendable, Hashable {
    /// The type in lowercase, such as `attachment` or `inline`. Empty if the field has no type.
    public var type: String
    /// The parameters as received. `filename*` is still encoded.
    public var parameters: FieldParameters

    /// Parses a field value. Reads only the first 8 KiB.
    ///
    /// In quotes, a backslash escapes the next character (RFC 9110, section 5.6.4). `form-data` keeps backslashes,
    /// because browsers don't escape them in forms.
    public init(parsing value: String) {
        let text = value.utf8.count > Self.limit ? String(value.unicodeScalars.prefix(Self.limit)) : value
        let end = text.utf8.firstIndex(of: UInt8(ascii: ";")) ?? text.utf8.endIndex
        let first = ASCII.trimmed(text[..<end])
        // Some servers omit the type, so the value begins with a parameter.
        let hasType = !first.utf8.contains(UInt8(ascii: "="))
        type = hasType ? first.lowercased() : ""
        let rest = hasType ? text[end...] : text[...]
        parameters = type == "form-data" ? FieldParameters(ofForm: rest) : FieldParameters(parsing: rest)
    }

    /// Creates a disposition for a file name. Adds `filename*` if the name contains `%` or isn't printable ASCII.
    public init(_ type: String = "attachment", fileName: String) {
        self.type = type.lowercased()
        let plain = String(
            String.UnicodeScalarView(
                fileName.unicodeScalars.map { $0.value >= 0x20 && $0.value < 0x7F && $0 != "%" ? $0 : "_" }))
        parameters = FieldParameters([.init("filename", plain, isQuoted: true)])
        if plain != fileName { parameters.all.append(.init("filename*", ExtendedValue.encode(fileName))) }
    }

    /// The file name, from `filename*` or else `filename` (section 4.3).
    ///
    /// Like browsers, decodes the encoded words of mail headers (RFC 2047), such as `=?UTF-8?B?w6QudHh0?=`, except in
    /// `form-data`. The name may contain slashes, `..`, and control characters: sanitize it before you use it in a
    /// path.
    public var fileName: String? {
        // A quoted `filename*` isn't encoded.
        for parameter in parameters.all where parameter.name == "filename*" && !parameter.isQuoted {
            if let name = ExtendedValue.decode(parameter.value), !name.isEmpty { return name }
        }
        let name = parameters.all.first { $0.name == "filename" && !$0.value.isEmpty }?.value
        guard let name, type != "form-data", name.contains("=?") else { return name }
        let decoded = EncodedWordDecoder.decode(name)
        return decoded.isEmpty ? name : decoded
    }

    private static let limit = 8 << 10
}

extension ContentDisposition: CustomStringConvertible {
    /// The text of the field.
    public var description: String {
        type
            + parameters.all.map { parameter in
                let value = parameter.isQuoted ? QuotedString.quoted(parameter.value) : parameter.value
                return "; \(parameter.name)=\(value)"
            }.joined()
    }
}

/// Encodes and decodes parameter values with a charset and language (RFC 8187), such as `UTF-8'en'na%C3%AFve`.
public enum ExtendedValue {
    /// Decodes a value. Returns `nil` if it's malformed or its bytes aren't valid in the charset.
    ///
    /// Supports UTF-8, ISO-8859-1, and US-ASCII. Decodes ISO-8859-1 as windows-1252, as `Charset` does.
    public static func decode(_ value: some StringProtocol) -> String? {
        let parts = value.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[2].utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }),
            let bytes = PercentEncoding.bytes(parts[2])
        else { return nil }
        switch parts[0].lowercased() {
        case "utf-8": return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1":
            return Charset(label: "iso-8859-1")?.decode(Data(bytes), ignoresByteOrderMark: true)
        case "us-ascii": return bytes.allSatisfy { $0 < 0x80 } ? String(decoding: bytes, as: UTF8.self) : nil
        default: return nil
        }
    }

    /// Encodes text as `UTF-8''…`, percent-encoding all characters except `attr-char` (section 3.2.1).
    public static func encode(_ text: String) -> String { "UTF-8''" + PercentEncoding.encode(text, allowed: isPlain) }

    private static func isPlain(_ byte: UInt8) -> Bool {
        ASCII.isToken(byte) && byte != UInt8(ascii: "*") && byte != UInt8(ascii: "'") && byte != UInt8(ascii: "%")
    }
}
