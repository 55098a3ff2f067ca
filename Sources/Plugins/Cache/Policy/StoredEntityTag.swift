import ErrandHTTPFields
import ErrandMessageSyntax
import ErrandSupport

/// The `ETag` of a stored response, compared with the tags of requests and responses (RFC 9110, section 8.8.3.2).
///
/// Some servers send tags without quotes and expect them back as they are. These are not `EntityTag` values: they are
/// compared as text, byte by byte.
struct StoredEntityTag {
    private let text: String
    private let tag: EntityTag?

    init(_ value: String) {
        text = value
        tag = EntityTag(parsing: value)
    }

    /// Whether both identify equivalent representations, weak or not.
    func matchesWeakly(_ other: String) -> Bool {
        if let tag, let other = EntityTag(parsing: other) { return tag.matchesWeakly(other) }
        return Self.withoutWeakness(text).elementsEqual(Self.withoutWeakness(other))
    }

    /// Whether both identify the same bytes: equal, and neither weak.
    func matchesStrongly(_ other: String) -> Bool {
        if let tag, let other = EntityTag(parsing: other) { return tag.matchesStrongly(other) }
        return text.hasSameBytes(as: other) && !Self.isWeak(text)
    }

    /// Whether the list in `If-None-Match` names the tag (section 13.1.2).
    func isNamed(byCondition value: String) -> Bool {
        if let tag { return EntityTagCondition(parsing: value)?.matchesWeakly(tag) ?? false }
        return FieldList.entityTags(value).contains { matchesWeakly(String($0)) }
    }

    private static func isWeak(_ text: String) -> Bool { text.utf8.starts(with: "W/".utf8) }

    private static func withoutWeakness(_ text: String) -> Substring.UTF8View {
        isWeak(text) ? text.utf8.dropFirst(2) : text.utf8[...]
    }
}
