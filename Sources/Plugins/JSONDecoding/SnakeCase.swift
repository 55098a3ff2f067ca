import ErrandEssentials

/// Implements `.convertFromSnakeCase` as `JSONDecoder` does.
enum SnakeCase {
    /// Converts "user_name" to "userName". Keeps underscores at both ends. Returns keys without other underscores
    /// unchanged.
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
