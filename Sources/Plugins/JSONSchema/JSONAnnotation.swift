public import ErrandJSONValidation

/// Information that a ``JSONSchema`` gives about a value without constraining the value. For example, a title, a
/// format, a content encoding, or a keyword that the standard doesn't define.
public struct JSONAnnotation: Sendable {
    /// The value's position, as a JSON Pointer (RFC 6901). Pointers above about 1 KB end with `…`.
    public let pointer: String
    /// The keyword, such as `title`, `format` or `contentMediaType`.
    public let keyword: String
    /// The keyword's value in the schema.
    public let value: JSONFragment
    /// The keyword's location: the URI of the document that contains the keyword, with a JSON Pointer as the fragment.
    public let schemaLocation: String
    /// The value's byte offset in the validated text.
    public let offset: Int
}

extension JSONAnnotation: CustomStringConvertible {
    /// A line such as `/name: title "The name", by #/properties/name/title`.
    public var description: String {
        let shown = pointer.isEmpty ? "document" : MessageText.shown(pointer, limit: 1_200)
        let text = MessageText.shown(String(decoding: value.data.prefix(200), as: UTF8.self), limit: 60)
        return "\(shown): \(keyword) \(text), by \(MessageText.shown(schemaLocation, limit: 1_200))"
    }
}
