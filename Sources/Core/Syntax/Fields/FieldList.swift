/// Parses comma-separated lists in field values (RFC 9110, section 5.6.1), such as `gzip, deflate, br`.
///
/// ```swift
/// FieldList.items(#"a, "b,c", d"#)       // ["a", #""b,c""#, "d"]
/// ```
public enum FieldList {
    /// Returns the trimmed items between commas outside quoted strings, without empty items.
    public static func items(_ value: String) -> [Substring] { allItems(value).filter { !$0.isEmpty } }

    /// Returns the items of several field lines, in order.
    public static func items(_ values: [String]) -> [Substring] { values.flatMap { items($0) } }

    /// Returns whether the list contains a token, ignoring case.
    public static func contains(_ token: String, in value: String) -> Bool {
        items(value).contains { ASCII.equalsIgnoringCase(String($0), token) }
    }

    /// Returns the items, including empty items.
    public static func allItems(_ value: String) -> [Substring] {
        split(value[...], at: UInt8(ascii: ","))
    }

    /// Returns the items of a list of entity tags, such as `If-None-Match`, without empty items. A backslash isn't an
    /// escape in a tag (RFC 9110, section 8.8.3).
    public static func entityTags(_ value: String) -> [Substring] {
        var isQuoted = false
        let items = value.utf8.split { byte in
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            return byte == UInt8(ascii: ",") && !isQuoted
        }
        return items.map { ASCII.trimmed(Substring($0)) }.filter { !$0.isEmpty }
    }

    package static func split(_ text: Substring, at separator: UInt8) -> [Substring] {
        var parts: [Substring] = []
        var (isQuoted, isEscaped) = (false, false)
        var start = text.startIndex
        // Iterate over the bytes and compute an index only at a separator, because computing each index is slower.
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
