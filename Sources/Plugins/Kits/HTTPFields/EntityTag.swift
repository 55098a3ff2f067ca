import ErrandMessageSyntax
import ErrandSupport

/// An entity tag (RFC 9110, section 8.8.3): `"xyzzy"` or `W/"xyzzy"`.
public struct EntityTag: Sendable, Hashable {
    /// The text between the quotes.
    public let opaque: String
    /// Whether the tag is weak: representations with the same tag are equivalent, but their bytes may differ.
    public let isWeak: Bool

    /// Creates a tag. Returns `nil` if the text contains a quote, a control character, or DEL.
    public init?(_ opaque: String, isWeak: Bool = false) {
        guard opaque.utf8.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != 0x7F }) else { return nil }
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// Parses a single tag. Returns `nil` if the text isn't a tag. Accepts spaces within the quotes: the grammar
    /// forbids them, but some servers send them.
    public init?(parsing text: some StringProtocol) {
        var bytes = Substring(text).utf8
        let isWeak = bytes.starts(with: "W/".utf8)
        if isWeak { bytes = bytes.dropFirst(2) }
        guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\""),
            let opaque = String(bytes.dropFirst().dropLast())
        else { return nil }
        self.init(opaque, isWeak: isWeak)
    }

    /// Returns whether the tags are equal and both strong (section 8.8.3.2). Use it before you join byte ranges.
    public func matchesStrongly(_ other: EntityTag) -> Bool { !isWeak && !other.isWeak && matchesWeakly(other) }

    /// Returns whether the tags are equal, weak or strong (section 8.8.3.2). Use it for `If-None-Match`.
    public func matchesWeakly(_ other: EntityTag) -> Bool { opaque.hasSameBytes(as: other.opaque) }

    /// Compares tags byte by byte, without Unicode normalization (section 8.8.3.2).
    public static func == (a: EntityTag, b: EntityTag) -> Bool { a.isWeak == b.isWeak && a.matchesWeakly(b) }
}

extension EntityTag: CustomStringConvertible {
    /// The tag as it appears in a field.
    public var description: String { "\(isWeak ? "W/" : "")\"\(opaque)\"" }
}

/// The value of `If-None-Match` or `If-Match` (RFC 9110, section 13.1).
public enum EntityTagCondition: Sendable, Hashable {
    /// Any tag, written as `*`.
    case any
    /// A list of at least one tag. Skips list items that aren't entity tags.
    case tags([EntityTag])

    /// Parses a field value. Returns `nil` if it doesn't contain a tag.
    public init?(parsing value: String) {
        if ASCII.trimmed(value[...]) == "*" {
            self = .any
            return
        }
        let tags = FieldList.entityTags(value).compactMap { EntityTag(parsing: $0) }
        if tags.isEmpty { return nil }
        self = .tags(tags)
    }

    /// Returns whether a tag meets the condition by weak comparison, for `If-None-Match`.
    public func matchesWeakly(_ tag: EntityTag) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags): tags.contains { $0.matchesWeakly(tag) }
        }
    }

    /// Returns whether a tag meets the condition by strong comparison, for `If-Match`.
    public func matchesStrongly(_ tag: EntityTag) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags): tags.contains { $0.matchesStrongly(tag) }
        }
    }
}
