/// Lists in field values (RFC 9110, section 5.6.1): `gzip, deflate, br`.
///
/// ```swift
/// FieldList.items(#"a, "b,c", d"#)       // ["a", #""b,c""#, "d"]
/// ```
public enum FieldList {
    /// The items between the commas outside of quoted strings, without white space at their ends and without empty
    /// ones.
    public static func items(_ value: String) -> [Substring] { allItems(value).filter { !$0.isEmpty } }

    /// The same for several field lines of one name, in order.
    public static func items(_ values: [String]) -> [Substring] { values.flatMap { items($0) } }

    /// Whether an item of the list is this token, in any case.
    public static func contains(_ token: String, in value: String) -> Bool {
        items(value).contains { ASCII.equalsIgnoringCase(String($0), token) }
    }

    /// The items, empty ones too.
    public static func allItems(_ value: String) -> [Substring] {
        split(value[...], at: UInt8(ascii: ","))
    }

    /// The items of a list of entity tags, such as `If-None-Match`, without empty ones. Unlike in a quoted string, a backslash
    /// in a tag escapes nothing (RFC 9110, section 8.8.3): every quotation mark begins or ends one.
    public static func entityTags(_ value: String) -> [Substring] {
        var isQuoted = false
        let items = value.utf8.split { byte in
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            return byte == UInt8(ascii: ",") && !isQuoted
        }
        return items.map { ASCII.trimmed(Substring($0)) }.filter { !$0.isEmpty }
    }

    /// The parts between separators outside of quoted strings, trimmed.
    static func split(_ text: Substring, at separator: UInt8) -> [Substring] {
        var parts: [Substring] = []
        var (isQuoted, isEscaped) = (false, false)
        var start = text.startIndex
        // Counted: an index of a substring's bytes costs more than the byte.
        for (offset, byte) in text.utf8.enumerated() {
            switch byte {
            case _ where isEscaped: isEscaped = false
            case UInt8(ascii: "\\"): isEscaped = isQuoted
            case UInt8(ascii: "\""): isQuoted.toggle()
            case separator where !isQuoted:
                let index = text.utf8.index(text.startIndex, offsetBy: offset)
                parts.append(ASCII.trimmed(text[start..<index]))
                start = text.utf8.index(after: index)
            default: break
            }
        }
        parts.append(ASCII.trimmed(text[start...]))
        return parts
    }
}
