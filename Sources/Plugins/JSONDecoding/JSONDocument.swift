import ErrandEssentials
import ErrandJSONSyntax
import ErrandSupport

/// A text with its index and the settings of its decoder: what all frames of a decoding share.
final class JSONDocument {
    let options: FastJSONDecoder
    let userInfo: [CodingUserInfoKey: Any]
    /// Whether keys are converted before they are compared.
    let convertsKeys: Bool
    /// The text in UTF-8.
    private let text: [UInt8]
    private let entries: [IndexEntry]

    /// Checks a text, and makes its index.
    init(_ text: [UInt8], options: FastJSONDecoder) throws(JSONDecodingError) {
        entries = try IndexBuilder.entries(of: text)
        (self.text, self.options, userInfo) = (text, options, options.userInfo)
        if case .useDefaultKeys = options.keyDecodingStrategy { convertsKeys = false } else { convertsKeys = true }
    }

    /// The entry at a position of the index.
    @inline(__always) subscript(position: Int) -> IndexEntry { entries[position] }

    /// The position behind a value and all that it contains.
    @inline(__always) func next(after position: Int) -> Int { position &+ entries[position].span }

    /// The bytes of a scalar; those of a string are without quotes.
    func bytes(_ entry: IndexEntry) -> ArraySlice<UInt8> { text[entry.start..<entry.start &+ entry.length] }

    /// The bytes of a string, with its quotes.
    func quoted(_ entry: IndexEntry) -> ArraySlice<UInt8> { text[entry.start - 1..<entry.start + entry.length + 1] }

    /// The number of an entry.
    func number(_ entry: IndexEntry) -> JSONNumber {
        JSONNumber(text[entry.start..<entry.start &+ entry.length].span)
    }

    /// How many elements to reserve memory for before the first one is decoded: at most 64 KiB of them.
    ///
    /// Two bytes of a text are enough for an element, whatever size its type has, so the text must not decide how much is
    /// reserved. A longer array grows while its elements are decoded.
    @inline(__always) static func room<Element>(for count: Int, _ type: Element.Type) -> Int {
        min(count, (64 << 10) / max(1, MemoryLayout<Element>.stride))
    }

    // MARK: Values; nil for one of another kind, or beyond the range

    @inline(__always) func bool(at position: Int) -> Bool? {
        let entry = entries[position]
        if entry.isKind(.true) { return true }
        return entry.isKind(.false) ? false : nil
    }

    @inline(never) func string(at position: Int) -> String? {
        let entry = entries[position]
        if entry.isKind(.string) { return Self.string(text, entry.start, entry.length) }
        guard entry.isKind(.escapedString) else { return nil }
        return String(decoding: JSONGrammar.unescaped(bytes(entry)), as: UTF8.self)
    }

    private static func string(_ text: [UInt8], _ start: Int, _ count: Int) -> String {
        String(decoding: text[start..<start &+ count], as: UTF8.self)
    }

    /// An integer of digits only; `number` has the value of any other.
    func integer<Value: FixedWidthInteger>(_ type: Value.Type, at position: Int) -> Value? {
        let entry = entries[position]
        guard entry.isKind(.integer) else { return nil }
        var index = entry.start
        let end = index &+ entry.length
        let isNegative = text[index] == 0x2D
        if isNegative { index &+= 1 }
        // Nineteen digits fit.
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

    /// The elements of an array of which all can be read; nil if one cannot.
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

    /// The members of an object of which all can be read; nil if one cannot.
    @inline(__always) func dictionary<Value>(at position: Int, _ read: (Int) -> Value?) -> [String: Value]? {
        guard entries[position].isObject else { return nil }
        var key = position + 1
        let end = next(after: position)
        // Half of the entries are values; an object with large ones in it has fewer.
        var values = [String: Value](minimumCapacity: min((end - key) / 2, 1_024))
        while key < end {
            guard let name = string(at: key), let value = read(key + 1) else { return nil }
            values.setIfAbsent(name, value)
            key += 2
        }
        return values
    }

    // MARK: Members

    /// Where to look for the next key of an object first: types ask for their keys in the order of the text more often than
    /// not.
    struct MemberCursor {
        /// The position of the key; the end of the object behind the last one.
        var key: Int
        /// The marks of all keys before it.
        var passed: UInt64 = 0
    }

    enum Search {
        /// The position of the value.
        case found(Int)
        case absent
        /// The object has more members before the key than a search looks at.
        case tooMany
    }

    /// A longer search than this is left to a table.
    private static let longestSearch = 32

    /// Looks for a key in an object, byte by byte. Of equal keys the first one counts, as in `JSONDecoder`: the key at the
    /// cursor is taken if none before it can be equal, by its mark; otherwise the keys are compared from the first one on.
    @inline(__always)
    func find(_ name: String, inObjectAt position: Int, _ cursor: inout MemberCursor) -> Search {
        name.withSpan { name in
            let head = IndexEntry.head(.string, length: name.count)
            let end = next(after: position)
            if cursor.key < end {
                let entry = entries[cursor.key]
                if entry.head == head, JSONGrammar.hasName(name, in: text, at: entry.start) {
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
                if entry.head == head, JSONGrammar.hasName(name, in: text, at: entry.start) {
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

    /// One of 64 bits for the length and the first byte of a key: keys with different marks are not equal.
    @inline(__always) private func mark(of key: IndexEntry) -> UInt64 {
        // An empty key has the quote behind it.
        1 &<< (UInt64(text[key.start]) &* 5 &+ UInt64(truncatingIfNeeded: key.length) &* 11)
    }

    /// Calls a function with each key of an object and the position of its value.
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
    /// Of equal keys the first one counts.
    @inline(__always) mutating func setIfAbsent(_ key: String, _ value: Value) {
        { if $0 == nil { $0 = value } }(&self[key])
    }
}
