import ErrandMessageSyntax

/// The encodings in which a text appears in URLs, forms, HTML, XML and JSON.
enum SecretForms {
    /// Returns the encodings that differ from the text, some of them several times.
    static func all(of text: String) -> [String] {
        let escaped = PercentEncoding.encode(text)
        let lowercase = lowercaseEscapes(escaped)
        let forms = [escaped, lowercase] + (text.contains(" ") ? [plus(escaped), plus(lowercase)] : [])
        return (forms + html(text) + json(text)).filter { $0 != text }
    }

    private static func lowercaseEscapes(_ escaped: String) -> String {
        var rest = 0
        let bytes = escaped.utf8.map { byte in
            rest = byte == UInt8(ascii: "%") ? 2 : rest - 1
            return rest >= 0 ? ASCII.lowercase(byte) : byte
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func plus(_ escaped: String) -> String { escaped.replacing("%20", with: "+") }

    /// Quotation marks and apostrophes, as programs write them.
    private static let references = [
        ("\"", "'"), ("&quot;", "'"), ("&quot;", "&#39;"), ("&quot;", "&#x27;"), ("&quot;", "&apos;"),
        ("&#34;", "&#39;"),
    ]

    private static func html(_ text: String) -> [String] {
        guard text.utf8.contains(where: { "&<>\"'".utf8.contains($0) }) else { return [] }
        let escaped = text.replacing("&", with: "&amp;").replacing("<", with: "&lt;").replacing(">", with: "&gt;")
        return references.map { escaped.replacing("\"", with: $0).replacing("'", with: $1) }
    }

    /// As JavaScript, Go, Python, PHP and .NET write it.
    private static func json(_ text: String) -> [String] {
        let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
        guard !isASCII || text.utf8.contains(where: { $0 < 0x20 || "\"\\/<>&'+`".utf8.contains($0) }) else { return [] }
        let none: String.UnicodeScalarView = "".unicodeScalars
        let ascii = isASCII ? [] : [json(text, escaping: none, alsoOthers: true)]
        let usual = [json(text, escaping: none), json(text, escaping: "<>&".unicodeScalars)] + ascii
        let slashes = text.contains("/") ? usual.map { $0.replacing("/", with: "\\/") } : []
        return usual + slashes
            + [json(text, escaping: "<>&\"'+`".unicodeScalars, alsoOthers: true, isUppercase: true)]
    }

    /// - Parameters:
    ///   - characters: The characters that become `\u` and a number.
    ///   - alsoOthers: Whether characters outside of ASCII do as well.
    private static func json(
        _ text: String, escaping characters: String.UnicodeScalarView, alsoOthers: Bool = false,
        isUppercase: Bool = false
    ) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\n": result += "\\n"
            case "\r": result += "\\r"
            case "\t": result += "\\t"
            case _ where scalar.value < 0x20 || characters.contains(scalar) || alsoOthers && !scalar.isASCII:
                for unit in String(scalar).utf16 {
                    let digits = String(unit, radix: 16, uppercase: isUppercase)
                    result += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
                }
            case "\"", "\\":
                result += "\\"
                result.unicodeScalars.append(scalar)
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }
}
