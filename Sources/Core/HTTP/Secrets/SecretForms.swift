import ErrandMessageSyntax

/// The encodings in which a text appears in URLs, forms, HTML, XML and JSON.
enum SecretForms {
    /// Returns all encodings of a text. The result can contain duplicates.
    static func all(of text: String) -> [String] {
        var forms = [PercentEncoding.encode(text)]
        if text.utf8.contains(UInt8(ascii: " ")) { forms.append(formEncoded(text)) }
        forms += forms.compactMap(lowercaseEscapes)
        if text.utf8.contains(where: isEscaped) { forms += html(text) + json(text) }
        return forms.filter { $0 != text }
    }

    /// Returns a text with its escapes in lowercase, or nil if the escapes contain only digits.
    private static func lowercaseEscapes(_ escaped: String) -> String? {
        var bytes = Array(escaped.utf8)
        var hasLetters = false
        for index in bytes.indices.dropLast(2) where bytes[index] == UInt8(ascii: "%") {
            for digit in index + 1...index + 2 where ASCII.isLetter(bytes[digit]) {
                bytes[digit] = ASCII.lowercase(bytes[digit])
                hasLetters = true
            }
        }
        return hasLetters ? String(decoding: bytes, as: UTF8.self) : nil
    }

    private static func formEncoded(_ text: String) -> String {
        let space = UInt8(ascii: " ")
        let escaped = PercentEncoding.encode(text) { $0 == space || ASCII.isUnreserved($0) }
        return String(decoding: escaped.utf8.map { $0 == space ? UInt8(ascii: "+") : $0 }, as: UTF8.self)
    }

    private static func isEscaped(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "<"), UInt8(ascii: ">"),
            UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "+"), UInt8(ascii: "`"):
            true
        default: byte < 0x20 || byte >= 0x80
        }
    }

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

    /// Returns a text as JSON strings, as JavaScript, Go, Python, PHP and .NET write them.
    private static func json(_ text: String) -> [String] {
        let isASCII = text.utf8.allSatisfy { $0 < 0x80 }
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
