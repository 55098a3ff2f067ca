import ErrandSupport

/// Encodes and decodes percent-encoding (RFC 3986, section 2.1), and its variant for forms (WHATWG URL, section 5).
///
/// ```swift
/// PercentEncoding.encode("a b/ü")            // "a%20b%2F%C3%BC"
/// PercentEncoding.decode("a%20b")            // "a b"
/// ```
public enum PercentEncoding {
    /// Returns the text as UTF-8, with `%XX` for each byte that isn't allowed. By default, only unreserved characters
    /// are allowed.
    public static func encode(_ text: String, allowed: (UInt8) -> Bool = ASCII.isUnreserved) -> String {
        var result = ""
        encode(text, into: &result, allowed: allowed)
        return result
    }

    /// Appends the text, with `%XX` for each byte that isn't allowed.
    public static func encode(_ text: String, into result: inout String, allowed: (UInt8) -> Bool) {
        result += text.withSpan { encode($0, allowed: allowed) } ?? text
    }

    /// Returns the encoded text, or nil if the text doesn't change.
    private static func encode(_ text: Span<UInt8>, allowed: (UInt8) -> Bool) -> String? {
        guard let first = text.firstIndex(where: { !allowed($0) }) else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count + 16)
        for index in text.indices {
            let byte = text[index]
            if index < first || allowed(byte) {
                bytes.append(byte)
            } else {
                bytes.append(UInt8(ascii: "%"))
                bytes.append(digit(byte >> 4))
                bytes.append(digit(byte & 15))
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Returns the decoded text. Returns nil if a `%` isn't followed by two hexadecimal digits, or if the bytes aren't
    /// UTF-8.
    ///
    /// - Parameters:
    ///   - text: The encoded text.
    ///   - plusIsSpace: Whether `+` is a space, as in forms. Defaults to false.
    public static func decode(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String? {
        guard let bytes = bytes(text, plusIsSpace: plusIsSpace) else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }

    /// Returns the decoded bytes. Returns nil if a `%` isn't followed by two hexadecimal digits.
    public static func bytes(_ text: some StringProtocol, plusIsSpace: Bool = false) -> [UInt8]? {
        decode(text, plusIsSpace: plusIsSpace, isStrict: true)
    }

    /// Decodes as much as possible, for display or comparison. Keeps a `%` without two digits, and replaces invalid
    /// UTF-8 with U+FFFD.
    public static func decodeLeniently(_ text: some StringProtocol, plusIsSpace: Bool = false) -> String {
        guard text.utf8.contains(where: { $0 == UInt8(ascii: "%") || plusIsSpace && $0 == UInt8(ascii: "+") }) else {
            return String(text)
        }
        return String(decoding: decode(text, plusIsSpace: plusIsSpace, isStrict: false) ?? [], as: UTF8.self)
    }

    private static func decode(_ text: some StringProtocol, plusIsSpace: Bool, isStrict: Bool) -> [UInt8]? {
        var result: [UInt8] = []
        result.reserveCapacity(text.utf8.count)
        var index = text.utf8.startIndex
        let end = text.utf8.endIndex
        while index < end {
            let byte = text.utf8[index]
            text.utf8.formIndex(after: &index)
            guard byte == UInt8(ascii: "%") else {
                result.append(plusIsSpace && byte == UInt8(ascii: "+") ? 0x20 : byte)
                continue
            }
            if index < end, let high = ASCII.hexValue(text.utf8[index]) {
                let second = text.utf8.index(after: index)
                if second < end, let low = ASCII.hexValue(text.utf8[second]) {
                    result.append(high << 4 | low)
                    index = text.utf8.index(after: second)
                    continue
                }
            }
            if isStrict { return nil }
            result.append(byte)
        }
        return result
    }

    private static func digit(_ number: UInt8) -> UInt8 {
        number < 10 ? UInt8(ascii: "0") + number : UInt8(ascii: "A") - 10 + number
    }
}
