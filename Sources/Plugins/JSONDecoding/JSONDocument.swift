import ErrandEssentials
import ErrandJSONSyntax
import ErrandSupport

/// A text with its index and its decoder's settings. All frames of a decoding share it.
final class JSONDocument {
    let options: FastJSONDecoder
    let userInfo: [CodingUserInfoKey: Any]
    let convertsKeys: Bool
    private let text: ContiguousArray<UInt8>
    private let entries: ContiguousArray<IndexEntry>

    init(_ text: [UInt8], options: FastJSONDecoder) throws(JSONDecodingError) {
        let text = ContiguousArray(text)
        entries = try IndexBuilder.entries(of: text)
        (self.text, self.options, userInfo) = (text, options, options.userInfo)
        if case .useDefaultKeys = options.keyDecodingStrategy { convertsKeys = false } else { convertsKeys = true }
    }

    @inline(__always) subscript(position: Int) -> IndexEntry { entries[position] }

    @inline(__always) func next(after position: Int) -> Int { position &+ entries[position].span }

    /// Returns the bytes of an entry, without a string's quotes.
    func bytes(_ entry: IndexEntry) -> ArraySlice<UInt8> { text[entry.start..<entry.start &+ entry.length] }

    func quoted(_ entry: IndexEntry) -> ArraySlice<UInt8> { text[entry.start - 1..<entry.start + entry.length + 1] }

    func number(_ entry: IndexEntry) -> JSONNumber {
        JSONNumber(text[entry.start..<entry.start &+ entry.length].span)
    }

    /// Reserves at most 64 KiB, because an element takes only two bytes of text, whatever the size of its type.
    @inline(__always) static func room<Element>(for count: Int, _ type: Element.Type) -> Int {
        min(count, (64 << 10) / max(1, MemoryLayout<Element>.stride))
    }

    // MARK: Values, nil for another kind or out of range

    @inline(__always) func bool(at position: Int) -> Bool? {
        let entry = entries[position]
        if entry.isKind(.true) { return true }
        return entry.isKind(.false) ? false : nil
    }

    @inline(never) func string(at position: Int) -> String? {
        let entry = entries[position]
        if entry.isKind(.string) { return String(decoding: bytes(entry), as: UTF8.self) }
        guard entry.isKind(.escapedString) else { return nil }
        return String(decoding: JSONGrammar.unescaped(bytes(entry)), as: UTF8.self)
    }

    /// `number` handles numbers that aren't written only in digits.
    func integer<Value: FixedWidthInteger>(_ type: Value.Type, at position: Int) -> Value? {
        let entry = entries[position]
        guard entry.isKind(.integer) else { return nil }
        var index = entry.start
        let end = index &+ entry.length
        let isNegative = text[index] == UInt8(ascii: "-")
        if isNegative { index &+= 1 }
        // 19 digits fit `UInt64`.
        guard end &- index < 20 else { return nil }
        var magnitude: UInt64 = 0
        while index < end {
            magnitude = magnitude &* 10 &+ UInt64(truncatingIfNeeded: text[index] &- 0x30)
            index &+= 1
        }
        if !isNegative { return Value(exactly: magnitude) }
        return magnitude <= 1 << 63 ? Value(exactly: Int64(truncatingIfNeeded: 0 &- magnitude)) : nil
    }

    @inline(never) func double(at position: Int) -> Double? {
        let entry = entries[position]
        guard entry.isKind(.integer) || entry.isKind(.number) else { return nil }
        let number = number(entry)
        let value = number.double
        return value.isNormal || value == 0 && number.isZero ? value : nil
    }

    @inline(never) func float(at position: Int) -> Float? {
        let entry = entries[position]
        guard entry.isKind(.integer) || entry.isKind(.number) else { return nil }
        let number = number(entry)
        let value = number.float
        return value.isNormal || value == 0 && number.isZero ? value : nil
    }

    @inline(__always) func array<Element>(at position: Int, _ read: (Int) -> Element?) -> [Element]? {
        guard entries[position].isKind(.array) else { return nil }
        let end = next(after: position)
        var elements: [Element] = []
        elements.reserveCapacity(Self.room(for: end - position - 1, Element.self))
        for element in position + 1..<end {
            guard let value = read(element) else { return nil }
            elements.append(value)
        }
        return elements
    }

    @inline(__always) func dictionary<Value>(at position: Int, _ read: (Int) -> Value?) -> [String: Value]? {
        guard entries[position].isObject else { return nil }
        var key = position + 1
        let end = next(after: position)
        // At most half of the entries are the object's own values.
        var values = [String: Value](minimumCapacity: min((end - key) / 2, 1_024))
        while key < end {
            guard let name = string(at: key), let value = read(key + 1) else { return nil }
            values.setIfAbsent(name, value)
            key += 2
        }
        return values
    }

    // MARK: Members

    /// The key at which the next search in an object starts, because types usually ask for keys in the order of the
    /// text.
    struct MemberCursor {
        /// The position of a key, or the end of the object.
        var key: Int
        /// The combined marks of all keys before `key`. See `mark(of:)`.
        var passed: UInt64 = 0
    }

    enum Search {
        case found(Int)
        case absent
        case tooMany
    }

    /// The maximum number of keys to compare. The caller continues a longer search with a table.
    private static let longestSearch = 32

    @inline(__always)
    private static func hasName(_ name: Span<UInt8>, in text: ContiguousArray<UInt8>, at start: Int) -> Bool {
        let text = text.span
        guard text.count &- start >= name.count else { return false }
        var index = 0
        while name.count &- index >= 8 {
            guard text.littleEndian(at: start &+ index, as: UInt64.self) == name.littleEndian(at: index) else {
                return false
            }
            index &+= 8
        }
        while index < name.count {
            guard text[start &+ index] == name[index] else { return false }
            index &+= 1
        }
        return true
    }

    /// Compares bytes. If keys repeat, the first is used, as in `JSONDecoder`.
    ///
    ///
    /// Uses the key at the cursor if this key matches and the marks rule out an equal key before it. Otherwise compares
    /// all keys from the first.
    @inline(__always)
    func find(_ name: String, inObjectAt position: Int, _ cursor: inout MemberCursor) -> Search {
        name.withSpan { name in
            let head = IndexEntry.head(.string, length: name.count)
            let end = next(after: position)
            if cursor.key < end {
                let entry = entries[cursor.key]
                if entry.head == head, Self.hasName(name, in: text, at: entry.start) {
                    let mark = mark(of: entry)
                    if cursor.passed & mark == 0 {
                        let value = cursor.key &+ 1
                        cursor = MemberCursor(key: next(after: value), passed: cursor.passed | mark)
                        return .found(value)
                    }
                }
            }
            var (key, passed, left) = (position &+ 1, 0 as UInt64, Self.longestSearch)
            while key < end {
                let entry = entries[key]
                passed |= mark(of: entry)
                if entry.head == head, Self.hasName(name, in: text, at: entry.start) {
                    cursor = MemberCursor(key: next(after: key &+ 1), passed: passed)
                    return .found(key &+ 1)
                }
                if left == 0 { return .tooMany }
                left &-= 1
                key = next(after: key &+ 1)
            }
            return .absent
        }
    }

    /// One of 64 bits. Keys with different marks aren't equal.
    @inline(__always) private func mark(of key: IndexEntry) -> UInt64 {
        // An empty key's byte is its closing quote.
        1 &<< (UInt64(text[key.start]) &* 5 &+ UInt64(truncatingIfNeeded: key.length) &* 11)
    }

    func forEachMember(at position: Int, _ body: (String, Int) throws -> Void) rethrows {
        var key = position + 1
        let end = next(after: position)
        while key < end {
            try body(string(at: key) ?? "", key + 1)
            key = next(after: key + 1)
        }
    }
}

extension Dictionary where Key == String {
    @inline(__always) mutating func setIfAbsent(_ key: String, _ value: Value) {
        { if $0 == nil { $0 = value } }(&self[key])
    }
}
