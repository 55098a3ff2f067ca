import ErrandJSONSyntax
import ErrandJSONValidation

/// Compares two valid values: numbers by value, strings without escapes, objects in any order.
enum JSONEquality {
    /// Whether two values are equal. Each of them is read once, however deep it is; the cost is their length.
    static func areEqual(_ a: BytePointer, _ aEnd: BytePointer, _ b: BytePointer, _ bEnd: BytePointer) -> Bool {
        if aEnd - a == bEnd - b, Bytes.equal(a, b, count: aEnd - a) { return true }
        let (first, second) = (ValueOutline(a, aEnd), ValueOutline(b, bEnd))
        var open = [(0, 0)]
        while let (one, other) = open.popLast() {
            guard let pairs = first.pairs(one, second, other) else { return false }
            open += pairs
        }
        return true
    }
}

/// The values within a value, in the order of the text; the keys of an object are among them.
private struct ValueOutline {
    private struct Part {
        var start: BytePointer
        var end: BytePointer
        /// The index behind the parts of this one.
        var next = 0
        var isContainer = false
    }

    private var parts: [Part] = []

    init(_ start: BytePointer, _ end: BytePointer) {
        var open: [Int] = []
        var p = start
        while p < end {
            p = JSONGrammar.skipSpace(p, end)
            guard p < end else { break }
            switch p.pointee {
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
                let behind = JSONGrammar.scalarEnd(p, end)
                // The grammar accepted the text before; this ends a loop that would make no way.
                if behind == p { return }
                parts.append(Part(start: p, end: behind, next: parts.count + 1))
                p = behind
            }
        }
    }

    /// The parts of two values that have to be equal for the values to be equal; nil if they differ already.
    func pairs(_ index: Int, _ other: ValueOutline, _ otherIndex: Int) -> [(Int, Int)]? {
        guard index < parts.count, otherIndex < other.parts.count else { return nil }
        let (a, b) = (parts[index], other.parts[otherIndex])
        guard a.isContainer, b.isContainer else {
            return !a.isContainer && !b.isContainer && Self.areEqual(a, b) ? [] : nil
        }
        guard a.start.pointee == b.start.pointee else { return nil }
        let (mine, others) = (children(index), other.children(otherIndex))
        guard mine.count == others.count else { return nil }
        if a.start.pointee == JSONGrammar.openBracket { return Array(zip(mine, others)) }
        var members: [[UInt8]: Int] = [:]
        for member in stride(from: 0, to: others.count - 1, by: 2) {
            members[other.key(others[member])] = others[member + 1]
        }
        var pairs: [(Int, Int)] = []
        for member in stride(from: 0, to: mine.count - 1, by: 2) {
            guard let match = members[key(mine[member])] else { return nil }
            pairs.append((mine[member + 1], match))
        }
        return pairs
    }

    /// The parts directly within an array or an object.
    private func children(_ index: Int) -> [Int] {
        var found: [Int] = []
        var next = index + 1
        while next < parts[index].next {
            found.append(next)
            next = parts[next].next
        }
        return found
    }

    private func key(_ index: Int) -> [UInt8] {
        Array(JSONText(start: parts[index].start + 1, end: parts[index].end - 1).decoded)
    }

    private static func areEqual(_ a: Part, _ b: Part) -> Bool {
        switch (a.start.pointee, b.start.pointee) {
        case (JSONGrammar.quote, JSONGrammar.quote):
            JSONText(start: a.start + 1, end: a.end - 1).decoded.elementsEqual(
                JSONText(start: b.start + 1, end: b.end - 1).decoded)
        case (0x2D, let byte), (0x30...0x39, let byte):
            (byte == 0x2D || JSONGrammar.isDigit(byte))
                && ExactDecimal(a.start, a.end) == ExactDecimal(b.start, b.end)
        default: a.start.pointee == b.start.pointee
        }
    }
}
