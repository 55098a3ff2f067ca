/// The elements of the open arrays that must not have equal ones: one table for all of them. Equal hashes are confirmed from
/// the text.
struct UniqueSet {
    private struct Entry: ProbeEntry {
        var hash: UInt64
        var start: BytePointer
        var end: BytePointer
        var array: Int
    }

    private var table: ProbeStack<Entry>

    init(limit: Int) { table = ProbeStack(limit: limit) }

    var count: Int { table.count }

    mutating func insert(_ start: BytePointer, _ end: BytePointer, hash value: UInt64, array: Int) -> ProbeOutcome {
        let hash = KeyHash.mix(value ^ UInt64(truncatingIfNeeded: array), 0x2D35_8DCC_AA6C_78A5)
        return table.insert(Entry(hash: hash, start: start, end: end, array: array)) {
            $0.array == array && JSONEquality.areEqual($0.start, $0.end, start, end)
        }
    }

    /// Removes the elements after the first `count`.
    mutating func removeAll(behind count: Int) { table.removeAll(behind: count) }
}

/// Compares two values that have the same hash: numbers by value, strings without escapes, objects in any order.
enum JSONEquality {
    /// Below, values with the same hash count as equal.
    private static let maximumDepth = 256

    static func areEqual(_ a: BytePointer, _ aEnd: BytePointer, _ b: BytePointer, _ bEnd: BytePointer) -> Bool {
        if aEnd - a == bEnd - b, Lexer.equal(a, b, count: aEnd - a) { return true }
        return equal(a, aEnd, b, bEnd, 0)
    }

    private static func equal(
        _ a: BytePointer, _ aEnd: BytePointer, _ b: BytePointer, _ bEnd: BytePointer, _ depth: Int
    ) -> Bool {
        if depth > maximumDepth { return true }
        switch (a.pointee, b.pointee) {
        case (Lexer.quote, Lexer.quote):
            return JSONText(start: a + 1, end: aEnd - 1).decoded.elementsEqual(
                JSONText(start: b + 1, end: bEnd - 1).decoded)
        case (Lexer.openBracket, Lexer.openBracket):
            let (first, second) = (parts(a, aEnd), parts(b, bEnd))
            return first.count == second.count
                && zip(first, second).allSatisfy { equal($0.start, $0.end, $1.start, $1.end, depth + 1) }
        case (Lexer.openBrace, Lexer.openBrace):
            let (first, second) = (members(a, aEnd), members(b, bEnd))
            return first.count == second.count
                && first.allSatisfy { key, value in
                    second[key].map { equal(value.start, value.end, $0.start, $0.end, depth + 1) } ?? false
                }
        case (0x2D, _), (0x30...0x39, _):
            guard b.pointee == 0x2D || Lexer.isDigit(b.pointee) else { return false }
            return ExactDecimal(a, aEnd) == ExactDecimal(b, bEnd)
        default: return a.pointee == b.pointee
        }
    }

    private typealias Part = (start: BytePointer, end: BytePointer)

    private static func members(_ start: BytePointer, _ end: BytePointer) -> [[UInt8]: Part] {
        let all = parts(start, end)
        var members: [[UInt8]: Part] = [:]
        for index in stride(from: 0, to: all.count - 1, by: 2) {
            let key = Array(JSONText(start: all[index].start + 1, end: all[index].end - 1).decoded)
            members[key] = all[index + 1]
        }
        return members
    }

    /// The values directly within an array or an object, keys included.
    private static func parts(_ start: BytePointer, _ end: BytePointer) -> [Part] {
        var (parts, depth, p, first) = ([Part](), 0, start, start)
        while p < end {
            let byte = p.pointee
            switch byte {
            case Lexer.openBrace, Lexer.openBracket:
                depth += 1
                if depth == 2 { first = p }
                p += 1
            case Lexer.closeBrace, Lexer.closeBracket:
                depth -= 1
                p += 1
                if depth == 1 { parts.append((first, p)) }
            case Lexer.quote:
                let behind = Lexer.string(p + 1, end).end
                if depth == 1 { parts.append((p, behind)) }
                p = max(behind, p + 1)
            case 0x2D, 0x30...0x39:
                let behind = Lexer.number(p, end).scan.end
                if depth == 1 { parts.append((p, behind)) }
                p = max(behind, p + 1)
            case 0x74, 0x66, 0x6E:
                let behind = Lexer.literal(p, end).end
                if depth == 1 { parts.append((p, behind)) }
                p = max(behind, p + 1)
            default: p += 1
            }
        }
        return parts
    }
}
