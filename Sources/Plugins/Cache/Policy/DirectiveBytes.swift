import ErrandMessageSyntax

/// One directive of `Cache-Control`, as bytes of the field value: text is made of the few values that a rule needs.
struct DirectiveBytes {
    /// The bytes before the first `=`, or all.
    struct Name {
        fileprivate let bytes: ArraySlice<UInt8>

        /// Whether the name is this word, which is in lower case.
        static func ~= (word: String, name: Name) -> Bool {
            name.bytes.count == word.utf8.count
                && name.bytes.elementsEqual(word.utf8) { ASCII.lowercase($0) == $1 }
        }
    }

    let name: Name
    private let valueBytes: ArraySlice<UInt8>?

    private init(_ item: ArraySlice<UInt8>) {
        let equals = item.firstIndex(of: UInt8(ascii: "="))
        name = Name(bytes: item[..<(equals ?? item.endIndex)])
        valueBytes = equals.map { item[($0 + 1)...] }
    }

    var hasValue: Bool { valueBytes != nil }

    /// The value without its quotes.
    var value: String? {
        guard let valueBytes else { return nil }
        let text = String(decoding: valueBytes, as: UTF8.self)
        return QuotedString.content(text) ?? text
    }

    /// Calls the body with each directive: what stands between commas outside of quoted strings, without white space at
    /// its ends, unless it is empty (RFC 9110, section 5.6.1).
    static func forEach(in field: String, _ body: (DirectiveBytes) -> Void) {
        let bytes = Array(field.utf8)
        var (start, isQuoted, isEscaped) = (0, false, false)
        for (index, byte) in bytes.enumerated() {
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\"): isEscaped = isQuoted
            case UInt8(ascii: "\""): isQuoted.toggle()
            case UInt8(ascii: ",") where !isQuoted:
                give(bytes[start..<index], to: body)
                start = index + 1
            default: break
            }
        }
        give(bytes[start...], to: body)
    }

    private static func give(_ item: ArraySlice<UInt8>, to body: (DirectiveBytes) -> Void) {
        guard let first = item.firstIndex(where: { !ASCII.isBlank($0) }),
            let last = item.lastIndex(where: { !ASCII.isBlank($0) })
        else { return }
        body(DirectiveBytes(item[first...last]))
    }
}
