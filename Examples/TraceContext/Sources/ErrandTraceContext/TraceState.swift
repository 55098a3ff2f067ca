/// The value of a `tracestate` field (W3C Trace Context Level 2, section 3.3): what each system keeps of a trace, under its
/// key, the latest first.
///
/// ```swift
/// let state = TraceState(parsing: "rojo=00f067aa0ba902b7, congo=t61rcWkgMzE")
/// ```
public struct TraceState: Sendable, Hashable, CustomStringConvertible {
    /// One member of the list.
    public struct Member: Sendable, Hashable, CustomStringConvertible {
        /// At most 256 lower-case letters, digits, `_`, `-`, `*`, `/` and `@`; a letter or a digit first.
        public let key: String
        /// At most 256 printable characters of ASCII but `,` and `=`; no blank last.
        public let value: String

        /// Nil for a key or a value that is not valid.
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

    /// At most 32, no two of one key.
    public private(set) var members: [Member]

    /// Reads a field, several of them joined by commas; nil for one that is not valid, which the standard wants to be
    /// discarded as a whole: more than 32 members, or a member that does not keep to the grammar. Empty members are left
    /// out, and so are later members of a key that repeats: the first is the latest (section 3.3.1.3.1).
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

    /// The same with a member at the front, in the place of one of the same key; the last one goes where there are 32.
    public func setting(_ member: Member) -> TraceState {
        var state = self
        state.members = Array(([member] + members.filter { $0.key != member.key }).prefix(32))
        return state
    }

    /// The value of the field, of 512 characters at most: of a longer one members of more than 128 characters go first, and
    /// then the last ones, each as a whole (section 3.3.1.5).
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
