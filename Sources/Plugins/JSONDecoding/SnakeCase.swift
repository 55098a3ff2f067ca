import ErrandEssentials

/// `.convertFromSnakeCase`, as `JSONDecoder` reads it.
enum SnakeCase {
    /// "user_name" as "userName". Underscores at the ends stay where they are, and a key without others stays as it is.
    static func camelCase(_ key: String) -> String {
        let head = key.prefix { $0 == "_" }
        guard head.endIndex < key.endIndex else { return key }
        let tail = key.reversed().prefix { $0 == "_" }
        let words = key.dropFirst(head.count).dropLast(tail.count).split(separator: "_")
        guard words.count > 1, let first = words.first else { return key }
        let joined = words.dropFirst().reduce(into: first.lowercased()) { $0 += $1.capitalized }
        return head + joined + String(repeating: "_", count: tail.count)
    }
}
