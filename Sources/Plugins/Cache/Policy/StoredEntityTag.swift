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
        return Self.withoutWeakness(text).utf8.elementsEqual(Self.withoutWeakness(other).utf8)
    }

    /// Whether both identify the same bytes: equal, and neither weak.
    func matchesStrongly(_ other: String) -> Bool {
        if let tag, let other = EntityTag(parsing: other) { return tag.matchesStrongly(other) }
        return text.hasSameBytes(as: other) && !text.hasPrefix("W/")
    }

    /// Whether the list in `If-None-Match` names the tag (section 13.1.2).
    func isNamed(byCondition value: String) -> Bool {
        if let tag { return EntityTagCondition(parsing: value)?.matchesWeakly(tag) ?? false }
        return FieldList.entityTags(value).contains { matchesWeakly(String($0)) }
    }

    private static func withoutWeakness(_ text: String) -> Substring {
        text.hasPrefix("W/") ? text.dropFirst(2) : text[...]
    }
}
