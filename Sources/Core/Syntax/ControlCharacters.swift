import ErrandSupport

/// Escapes control characters in untrusted text. Such characters can move a terminal's cursor, forge log lines, or
/// change the text direction.
///
/// ```swift
/// ControlCharacters.escaped("ok\n2026 forged\u{1B}[2J")      // #"ok\u{A}2026 forged\u{1B}[2J"#
/// ```
public enum ControlCharacters {
    /// Returns the text with `\u{…}` for each control character, line separator, and bidirectional formatting
    /// character. The result fits on a line.
    ///
    /// - Parameters:
    ///   - text: The untrusted text.
    ///   - allowsLines: Whether to keep line feeds and tabs. Defaults to false.
    public static func escaped(_ text: String, allowsLines: Bool = false) -> String {
        if isPlain(text) || !mayNeedEscapes(text, allowsLines: allowsLines) { return text }
        var escaped = ""
        escaped.reserveCapacity(text.utf8.count)
        for scalar in text.unicodeScalars {
            if isControl(scalar), !(allowsLines && (scalar == "\n" || scalar == "\t")) {
                escaped += "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    private static func isPlain(_ text: String) -> Bool {
        text.withSpan { bytes in
            // Without an early exit or branches, the compiler can vectorize the loop.
            var others: UInt8 = 0
            for index in bytes.indices { others |= bytes[index] >= 0x20 && bytes[index] < 0x7F ? 0 : 1 }
            return others == 0
        }
    }

    /// Returns whether the text may contain a character to escape. Can return true without need, because some bytes
    /// that begin such characters also begin other characters.
    private static func mayNeedEscapes(_ text: String, allowsLines: Bool) -> Bool {
        text.withSpan { bytes in
            for index in bytes.indices {
                switch bytes[index] {
                case UInt8(ascii: "\n"), UInt8(ascii: "\t"): if !allowsLines { return true }
                case 0..<0x20, 0x7F: return true
                // These bytes begin U+0080 to U+00BF, and U+0600 to U+063F.
                case 0xC2, 0xD8: return true
                // These bytes begin U+2000 to U+207F.
                case 0xE2: if bytes[index + 1] == 0x80 || bytes[index + 1] == 0x81 { return true }
                default: break
                }
            }
            return false
        }
    }

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
