import ErrandMessageSyntax
import ErrandSupport

/// An entity tag (RFC 9110, section 8.8.3): `"xyzzy"` or `W/"xyzzy"`.
public struct EntityTag: Sendable, Hashable {
    /// The text between the quotes.
    public let opaque: String
    /// Whether the tag says only that two representations are equivalent, not that their bytes are the same.
    public let isWeak: Bool

    /// Makes a tag; nil if the text contains a quote, a control character or DEL, which no tag may contain.
    public init?(_ opaque: String, isWeak: Bool = false) {
        guard opaque.utf8.allSatisfy({ $0 >= 0x20 && $0 != UInt8(ascii: "\"") && $0 != 0x7F }) else { return nil }
        self.opaque = opaque
        self.isWeak = isWeak
    }

    /// Reads one tag; nil for anything else. A space within the quotes, which the grammar forbids, is accepted, because
    /// servers send it and compare it.
    public init?(parsing text: some StringProtocol) {
        var bytes = Substring(text).utf8
        let isWeak = bytes.starts(with: "W/".utf8)
        if isWeak { bytes = bytes.dropFirst(2) }
        guard bytes.count >= 2, bytes.first == UInt8(ascii: "\""), bytes.last == UInt8(ascii: "\""),
            let opaque = String(bytes.dropFirst().dropLast())
        else { return nil }
        self.init(opaque, isWeak: isWeak)
    }

    /// Whether both are strong and the same (section 8.8.3.2): for ranges, where bytes are joined.
    public func matchesStrongly(_ other: EntityTag) -> Bool { !isWeak && !other.isWeak && matchesWeakly(other) }

    /// Whether both are the same, weak or not (section 8.8.3.2): for `If-None-Match`.
    public func matchesWeakly(_ other: EntityTag) -> Bool { opaque.hasSameBytes(as: other.opaque) }

    /// Whether both are the same byte by byte (section 8.8.3.2): Unicode's canonical equivalence does not apply.
    public static func == (a: EntityTag, b: EntityTag) -> Bool { a.isWeak == b.isWeak && a.matchesWeakly(b) }
}

extension EntityTag: CustomStringConvertible {
    /// The tag as it stands in a field.
    public var description: String { "\(isWeak ? "W/" : "")\"\(opaque)\"" }
}

/// The value of `If-None-Match` or `If-Match` (RFC 9110, section 13.1): any tag, or one of a list.
public enum EntityTagCondition: Sendable, Hashable {
    /// `*`
    case any
    /// At least one tag; items of the list that are no entity tags were left out.
    case tags([EntityTag])

    /// Reads a field value; nil if there is no tag in it.
    public init?(parsing value: String) {
        if ASCII.trimmed(value[...]) == "*" {
            self = .any
            return
        }
        let tags = FieldList.entityTags(value).compactMap { EntityTag(parsing: $0) }
        if tags.isEmpty { return nil }
        self = .tags(tags)
    }

    /// Whether the condition names the tag, by weak comparison, as `If-None-Match` requires.
    public func matchesWeakly(_ tag: EntityTag) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags): tags.contains { $0.matchesWeakly(tag) }
        }
    }

    /// Whether the condition names the tag, by strong comparison, as `If-Match` requires.
    public func matchesStrongly(_ tag: EntityTag) -> Bool {
        switch self {
        case .any: true
        case .tags(let tags): tags.contains { $0.matchesStrongly(tag) }
        }
    }
}
