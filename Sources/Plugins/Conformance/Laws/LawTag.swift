public import Errand
import ErrandEssentials

/// A tag of a ``LawExchange``, for a filter that reacts to tags.
///
/// ```swift
/// let sample = LawExchange(tags: [LawTag(URLTemplate.self, "/users/{id}")])
/// let cases = FilterConformance.cases(for: { MyFilter() }, samples: [sample])
/// ```
public struct LawTag: Sendable, Hashable, CustomStringConvertible {
    let name: String
    private let value: String
    private let add: @Sendable (inout Tags) -> Void
    /// Returns the value of the tag's key as text.
    let read: @Sendable (Tags) -> String

    /// Creates a tag from a key and its value.
    public init<Key: TagKey>(_ key: Key.Type, _ value: Key.Value) {
        name = LawCode.name(of: key)
        self.value = Self.code(value)
        add = { $0[key] = value }
        read = { Self.code($0[key]) }
    }

    func add(to tags: inout Tags) { add(&tags) }

    /// A Swift expression that creates the tag.
    public var description: String { "LawTag(\(name).self, \(value))" }

    /// Returns whether the tags have the same key and equally described values.
    public static func == (one: LawTag, other: LawTag) -> Bool { one.name == other.name && one.value == other.value }

    /// Hashes the key's name and the value's description.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(name)
        hasher.combine(value)
    }

    private static func code(_ value: Any) -> String {
        if let text = value as? String { return LawCode.text(text) }
        if let url = value as? URL { return "URL(string: \(LawCode.text(url.absoluteString)))" }
        let mirror = Mirror(reflecting: value)
        switch mirror.displayStyle {
        case .optional: return mirror.children.first.map { code($0.value) } ?? "nil"
        case .enum: return ".\(value)"
        default: return "\(value)"
        }
    }
}

extension LawTag {
    /// Returns a tag that Errand's own filters know.
    static func random(for exchange: LawExchange, _ random: inout LawRandom) -> LawTag {
        switch Int.random(in: 0..<4, using: &random) {
        case 0: LawTag(URLTemplate.self, "/v1/{law}")
        case 1 where exchange.isStreamed: LawTag(LiveStream.self, true)
        case 2: LawTag(LinkSource.self, URL(string: "\(LawVocabulary.origin)/v1/from"))
        case 3:
            // Each URL identifies its own resource.
            LawTag(
                ResourceURL.self, URL(string: exchange.url + (exchange.url.contains("?") ? "&law" : "?law")))
        default: LawTag(URLTemplate.self, "/v1/a")
        }
    }

    /// Whether a filter that changes URLs may change the tag.
    var isAboutURL: Bool { name == "\(ResourceURL.self)" }
}
