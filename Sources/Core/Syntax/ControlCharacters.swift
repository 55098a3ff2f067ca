/// Control characters in text from outside, which move a terminal's cursor, forge lines of a log, or turn the direction of
/// what follows.
///
/// ```swift
/// ControlCharacters.escaped("ok\n2026 forged\u{1B}[2J")      // #"ok\u{A}2026 forged\u{1B}[2J"#
/// ```
public enum ControlCharacters {
    /// The text with `\u{…}` in place of each control character, line separator and mark of bidirectional formatting, so
    /// that it fits into a line.
    ///
    /// - Parameters:
    ///   - text: a text from outside.
    ///   - allowsLines: whether line feeds and tabs stay, as in a body of several lines. Defaults to false.
    public static func escaped(_ text: String, allowsLines: Bool = false) -> String {
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) { return text }
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

    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F..<0xA0, 0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }
}
