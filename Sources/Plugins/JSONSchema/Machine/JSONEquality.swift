import ErrandJSONSyntax
import ErrandJSONValidation

/// Compares two valid values: numbers by value, strings without escapes, objects in any order.
enum JSONEquality {
    /// Takes time proportional to the length of the values, at any depth.
    static func areEqual(_ a: Span<UInt8>, at aRange: Range<Int>, and b: Span<UInt8>, at bRange: Range<Int>) -> Bool {
        if aRange.count == bRange.count,
            Bytes.equal(a, at: aRange.lowerBound, to: b, at: bRange.lowerBound, count: aRange.count)
        {
            return true
        }
        let (first, second) = (ValueOutline(a, aRange), ValueOutline(b, bRange))
        var open = [(0, 0)]
        while let (one, other) = open.popLast() {
            guard let pairs = first.pairs(of: one, in: a, with: second, at: other, in: b) else { return false }
            open += pairs
        }
        return true
    }
}

/// A value and all values and keys inside it, in the order of the text.
private struct ValueOutline {
    private struct Part {
        var start: Int
        var end: Int
        /// After the last part inside this part.
        var next = 0
        var isContainer = false
    }

    private var parts: [Part] = []

    init(_ text: Span<UInt8>, _ range: Range<Int>) {
        var open: [Int] = []
        var p = range.lowerBound
        while p < range.upperBound {
            p = JSONGrammar.skipSpace(in: text, from: p)
            guard p < range.upperBound else { break }
            switch text[p] {
            case JSONGrammar.comma, JSONGrammar.colon: p += 1
            case JSONGrammar.openBrace, JSONGrammar.openBracket:
                open.append(parts.count)
                parts.append(Part(start: p, end: p, isContainer: true))
                p += 1
            case JSONGrammar.closeBrace, JSONGrammar.closeBracket:
                p += 1
                guard let last = open.popLast() else { return }
                parts[last].end = p
                parts[last].next = parts.count
            default:
                let behind = JSONGrammar.scalarEnd(text, p)
                // Prevents an endless loop, which valid text can't cause.
                if behind == p { return }
                parts.append(Part(start: p, end: behind, next: parts.count + 1))
                p = behind
            }
        }
    }

    /// Returns the parts that must be equal, or `nil` if the values already differ.
    func pairs(
        of index: Int, in text: Span<UInt8>, with other: ValueOutline, at otherIndex: Int, in otherText: Span<UInt8>
    ) -> [(Int, Int)]? {
        guard index < parts.count, otherIndex < other.parts.count else { return nil }
        let (a, b) = (parts[index], other.parts[otherIndex])
        guard a.isContainer, b.isContainer else {
            return !a.isContainer && !b.isContainer && Self.areEqual(a, in: text, and: b, in: otherText) ? [] : nil
        }
        guard text[a.start] == otherText[b.start] else { return nil }
        let (mine, others) = (children(index), other.children(otherIndex))
        guard mine.count == others.count else { return nil }
        if text[a.start] == JSONGrammar.openBracket { return Array(zip(mine, others)) }
        var members: [[UInt8]: Int] = [:]
        for member in stride(from: 0, to: others.count - 1, by: 2) {
            members[other.key(others[member], otherText)] = others[member + 1]
        }
        var pairs: [(Int, Int)] = []
        for member in stride(from: 0, to: mine.count - 1, by: 2) {
            guard let match = members[key(mine[member], text)] else { return nil }
            pairs.append((mine[member + 1], match))
        }
        return pairs
    }

    private func children(_ index: Int) -> [Int] {
        var found: [Int] = []
        var next = index + 1
        while next < parts[index].next {
            found.append(next)
            next = parts[next].next
        }
        return found
    }

    private func key(_ index: Int, _ text: Span<UInt8>) -> [UInt8] {
        JSONContent(parts[index].start + 1, parts[index].end - 1).decoded(in: text)
    }

    private static func areEqual(_ a: Part, in aText: Span<UInt8>, and b: Part, in bText: Span<UInt8>) -> Bool {
        switch (aText[a.start], bText[b.start]) {
        case (JSONGrammar.quote, JSONGrammar.quote):
            JSONContent(a.start + 1, a.end - 1).decoded(in: aText)
                == JSONContent(b.start + 1, b.end - 1).decoded(in: bText)
        case (UInt8(ascii: "-"), let byte), (UInt8(ascii: "0")...UInt8(ascii: "9"), let byte):
            (byte == UInt8(ascii: "-") || JSONGrammar.isDigit(byte))
                && ExactDecimal(aText, a.start..<a.end) == ExactDecimal(bText, b.start..<b.end)
        case (let first, let second): first == second
        }
    }
}

/// The elements of all open arrays that require unique elements, in one table. Elements with equal digests are compared
/// by their text.
struct UniqueSet {
    private struct Entry: ProbeEntry {
        var hash: UInt64
        var range: Range<Int>
        var length: Int
        var array: Int
    }

    private var table: ProbeStack<Entry>
    private var compared = 0

    init(limit: Int) { table = ProbeStack(limit: limit) }

    var count: Int { table.count }
    var size: Int { table.size }

    mutating func insert(
        _ text: Span<UInt8>, at range: Range<Int>, digest: ValueDigest, array: Int
    ) -> ProbeOutcome {
        let hash = KeyHash.mix(digest.hash ^ UInt64(truncatingIfNeeded: array), 0x2D35_8DCC_AA6C_78A5)
        var compared = 0
        let entry = Entry(hash: hash, range: range, length: digest.length, array: array)
        let outcome = table.insert(entry) { other in
            guard other.array == array, other.length == digest.length else { return false }
            compared += range.count + other.range.count
            return JSONEquality.areEqual(text, at: other.range, and: text, at: range)
        }
        self.compared += compared
        return outcome
    }

    mutating func takeCompared() -> Int {
        defer { compared = 0 }
        return compared
    }

    mutating func removeAll(behind count: Int) { table.removeAll(behind: count) }
}
