/// The value of a `tracestate` field (W3C Trace Context Level 2, section 3.3): each system's data about a trace, by
/// key, latest first.
///
/// ```swift
/// let state = TraceState(parsing: "rojo=00f067aa0ba902b7, congo=t61rcWkgMzE")
/// ```
public struct TraceState: Sendable, Hashable, CustomStringConvertible {
    /// One member of the list.
    public struct Member: Sendable, Hashable, CustomStringConvertible {
        /// At most 256 lowercase letters, digits, `_`, `-`, `*`, `/` and `@`, starting with a letter or digit.
        public let key: String
        /// At most 256 printable ASCII characters except `,` and `=`, not ending with a space.
        public let value: String

        /// Returns nil if the key or value isn't valid.
        public init?(_ key: String, _ value: String) {
            guard Self.isKey(key), Self.isValue(value) else { return nil }
            (self.key, self.value) = (key, value)
        }

        /// `key=value`
        public var description: String { "\(key)=\(value)" }

        private static func isKey(_ key: String) -> Bool {
            func isFirst(_ byte: UInt8) -> Bool {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
            guard let first = key.utf8.first, isFirst(first), key.utf8.count <= 256 else { return false }
            return key.utf8.allSatisfy { isFirst($0) || "_-*/@".utf8.contains($0) }
        }

        private static func isValue(_ value: String) -> Bool {
            guard let last = value.utf8.last, last != 0x20, value.utf8.count <= 256 else { return false }
            return value.utf8.allSatisfy {
                (0x20...0x7E).contains($0) && $0 != UInt8(ascii: ",") && $0 != UInt8(ascii: "=")
            }
        }
    }

    /// At most 32 members, with unique keys.
    public private(set) var members: [Member]

    /// Parses a field, or several fields joined by commas. Skips empty members. If a key repeats, keeps its first
    /// member, which is the latest (section 3.3.1.3.1). Returns nil for more than 32 members, or a member with invalid
    /// syntax, because the standard requires discarding such a field as a whole.
    public init?(parsing text: String) {
        var (members, keys): ([Member], Set<String>) = ([], [])
        for item in text.utf8.split(separator: UInt8(ascii: ",")) {
            let trimmed = Self.trimmed(item)
            if trimmed.isEmpty { continue }
            let parts = trimmed.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let key = String(parts[0]), let value = String(parts[1]),
                let member = Member(key, value)
            else { return nil }
            guard keys.insert(key).inserted else { continue }
            if members.count == 32 { return nil }
            members.append(member)
        }
        self.members = members
    }

    /// Returns a copy with a member at the front, in place of any member with the same key. If there are already 32,
    /// the last one is dropped.
    public func setting(_ member: Member) -> TraceState {
        var state = self
        state.members = Array(([member] + members.filter { $0.key != member.key }).prefix(32))
        return state
    }

    /// The field's value, at most 512 characters. If it's longer, members of more than 128 characters are dropped
    /// first, then the last members, each as a whole (section 3.3.1.5).
    public var description: String {
        var left = members
        var length = left.reduce(-1) { $0 + $1.description.utf8.count + 1 }
        for index in left.indices.reversed() where length > 512 && left[index].description.utf8.count > 128 {
            length -= left.remove(at: index).description.utf8.count + 1
        }
        while length > 512, let last = left.popLast() { length -= last.description.utf8.count + 1 }
        return left.map(\.description).joined(separator: ",")
    }

    private static func trimmed(_ text: Substring.UTF8View) -> Substring.UTF8View {
        func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }
        let start = text.drop(while: isBlank)
        guard let last = start.lastIndex(where: { !isBlank($0) }) else { return start }
        return start[...last]
    }
}
