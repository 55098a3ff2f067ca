public import ErrandJSONValidation

/// A statement of a ``JSONSchema`` about a value that fits it, without constraining it: a title, a format, the encoding
/// of its content, or the value of a keyword that the standard does not know.
public struct JSONAnnotation: Sendable {
    /// The value, as a JSON Pointer (RFC 6901). Truncated with `…` after about a kilobyte.
    public let pointer: String
    /// The keyword: `title`, `format`, `contentMediaType`.
    public let keyword: String
    /// The value of the keyword in the schema.
    public let value: JSONFragment
    /// The location of the keyword: the URI of its document with a JSON Pointer as the fragment.
    public let schemaLocation: String
    /// The offset in bytes of the value in the text.
    public let offset: Int
}

extension JSONAnnotation: CustomStringConvertible {
    /// `/name: title "The name", by #/properties/name/title`
    public var description: String {
        let shown = pointer.isEmpty ? "document" : MessageText.shown(pointer, limit: 1_200)
        let text = MessageText.shown(String(decoding: value.data.prefix(200), as: UTF8.self), limit: 60)
        return "\(shown): \(keyword) \(text), by \(MessageText.shown(schemaLocation, limit: 1_200))"
    }
}
