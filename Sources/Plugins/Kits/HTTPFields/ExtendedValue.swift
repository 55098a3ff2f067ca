import ErrandEssentials
import ErrandHTTP
import ErrandMessageSyntax

/// Encodes and decodes parameter values with a charset and language (RFC 8187), such as `UTF-8'en'na%C3%AFve`.
public enum ExtendedValue {
    /// Decodes a value. Returns `nil` if it's malformed or its bytes aren't valid in the charset.
    ///
    /// Supports UTF-8, ISO-8859-1, and US-ASCII, and returns `nil` for other charsets. ISO-8859-1 is decoded as
    /// windows-1252, as everywhere; see `Charset`.
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

    /// `attr-char`: a token character other than `*`, `'`, and `%`.
    private static func isPlain(_ byte: UInt8) -> Bool {
        ASCII.isToken(byte) && byte != UInt8(ascii: "*") && byte != UInt8(ascii: "'") && byte != UInt8(ascii: "%")
    }
}
