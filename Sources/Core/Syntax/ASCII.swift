import ErrandSupport

/// Classifies bytes in the grammar of HTTP and URLs.
///
/// ```swift
/// let isToken = "X-Trace".utf8.allSatisfy(ASCII.isToken)     // true
/// ```
public enum ASCII {
    /// Returns whether the byte is a `tchar` (RFC 9110, section 5.6.2).
    public static func isToken(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "!"), UInt8(ascii: "#")...UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^")...UInt8(ascii: "`"), UInt8(ascii: "|"),
            UInt8(ascii: "~"):
            true
        default: isAlphanumeric(byte)
        }
    }

    /// Returns whether the byte is an unreserved character (RFC 3986, section 2.3).
    @inlinable public static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: isAlphanumeric(byte)
        }
    }

    /// Returns whether a path or a query can contain the byte unescaped: `pchar`, `/` and `?` (RFC 3986, section 3).
    public static func isPathOrQuery(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "!"), UInt8(ascii: "$"), UInt8(ascii: "&")...UInt8(ascii: "/"), UInt8(ascii: ":"),
            UInt8(ascii: ";"), UInt8(ascii: "="), UInt8(ascii: "?"), UInt8(ascii: "@"):
            true
        default: isUnreserved(byte)
        }
    }

    /// Returns whether the byte is a decimal digit.
    @inlinable public static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }

    /// Returns whether the byte is an ASCII letter of either case.
    @inlinable public static func isLetter(_ byte: UInt8) -> Bool {
        let lower = byte | 0x20
        return lower >= UInt8(ascii: "a") && lower <= UInt8(ascii: "z")
    }

    /// Returns whether the byte is an ASCII letter or a digit.
    @inlinable public static func isAlphanumeric(_ byte: UInt8) -> Bool { isLetter(byte) || isDigit(byte) }

    /// Returns whether the byte is a hexadecimal digit of either case.
    public static func isHexDigit(_ byte: UInt8) -> Bool { hexValue(byte) != nil }

    /// Returns the value of a hexadecimal digit of either case, or nil.
    public static func hexValue(_ byte: UInt8) -> UInt8? { Hexadecimal.value(of: byte) }

    /// Returns whether the byte is a space or a tab (RFC 9110, section 5.6.3).
    public static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    /// Returns a letter in lowercase, or another byte unchanged.
    @inlinable public static func lowercase(_ byte: UInt8) -> UInt8 {
        byte >= UInt8(ascii: "A") && byte <= UInt8(ascii: "Z") ? byte | 0x20 : byte
    }

    /// Returns whether two texts are equal, ignoring the case of ASCII letters.
    public static func equalsIgnoringCase(_ a: String, _ b: String) -> Bool {
        if a.utf8.count != b.utf8.count { return false }
        return a.withSpan { a in b.withSpan { b in equalsIgnoringCase(a, b) } }
    }

    package static func equalsIgnoringCase(_ a: Span<UInt8>, _ b: Span<UInt8>) -> Bool {
        // Compare the first bytes, then all bytes exactly, and ignore case only at the end. Most unequal texts differ
        // in the first byte, and most equal texts have the same case.
        if a.isEmpty || lowercase(a[0]) != lowercase(b[0]) { return a.isEmpty }
        if a.hasSameBytes(as: b) { return true }
        for index in a.indices where a[index] != b[index] && lowercase(a[index]) != lowercase(b[index]) {
            return false
        }
        return true
    }

    /// Returns the value of a decimal number, such as `1.5`, `-2` or `1e3`. Returns nil for other text, such as `0x1F`
    /// and `inf`.
    public static func decimal(_ text: some StringProtocol) -> Double? {
        text.utf8.allSatisfy { isDigit($0) || "+-.eE".utf8.contains($0) } ? Double(text) : nil
    }

    /// Returns all digits of a number that Swift describes with an exponent, such as `0.000066` for `6.6e-05`. Many
    /// servers can't read an exponent in a query or a form. Returns other descriptions unchanged.
    public static func withoutExponent(_ description: String) -> String {
        guard let mark = description.utf8.firstIndex(of: UInt8(ascii: "e")),
            let exponent = Int(description[mark...].dropFirst())
        else { return description }
        let sign = description.utf8.first == UInt8(ascii: "-") ? "-" : ""
        let parts = description[..<mark].dropFirst(sign.utf8.count).split(separator: ".")
        let digits = parts.count > 1 && parts[1] == "0" ? String(parts[0]) : parts.joined()
        let point = parts[0].utf8.count + exponent
        if point <= 0 { return "\(sign)0.\(String(repeating: "0", count: -point))\(digits)" }
        return sign + digits + String(repeating: "0", count: max(0, point - digits.utf8.count))
    }

    /// Returns the value of decimal digits without a sign. Returns nil for other text, and for numbers above
    /// `Int64.max`.
    public static func digits(_ text: some StringProtocol) -> Int64? {
        var value: Int64 = 0
        var isEmpty = true
        for byte in text.utf8 {
            guard isDigit(byte) else { return nil }
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let (sum, isTooLarge) = product.addingReportingOverflow(Int64(byte - UInt8(ascii: "0")))
            if overflow || isTooLarge { return nil }
            (value, isEmpty) = (sum, false)
        }
        return isEmpty ? nil : value
    }

    /// Returns the text without leading and trailing spaces and tabs (RFC 9110, section 5.6.3).
    public static func trimmed(_ text: Substring) -> Substring {
        let bytes = text.utf8
        guard let first = bytes.firstIndex(where: { !isBlank($0) }), let last = bytes.lastIndex(where: { !isBlank($0) })
        else { return text[text.endIndex...] }
        return Substring(bytes[first...last])
    }
}
