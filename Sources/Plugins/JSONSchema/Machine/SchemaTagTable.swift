import ErrandJSONSyntax
import ErrandJSONValidation

/// A tag, prepared to find its value in a text.
struct SchemaTagTable {
    private let key: SchemaKeys
    private let strings: SchemaKeys
    private let literals: Int
    let count: Int

    init(_ tag: SchemaTag, _ arena: SchemaArena) {
        key = SchemaKeys([tag.key], arena)
        strings = SchemaKeys(tag.strings, arena)
        (literals, count) = (tag.literals, tag.branches.count)
    }

    /// The number of the value of the tag in an object, nil if it cannot be read or is too far away; and how many bytes were
    /// skipped to find it.
    func value(
        in start: BytePointer, _ end: BytePointer, budget: Int, _ tag: @autoclosure () -> SchemaTag
    ) -> (value: Int?, skipped: Int) {
        let p = JSONGrammar.skipSpace(start + 1, end)
        // Mostly the tag comes first.
        if end - p > 16, p.pointee == JSONGrammar.quote, key.isNext(0, p + 1, end) {
            var value = JSONGrammar.skipSpace(p + Int(key.rules[0].length) + 2, end)
            guard value < end, value.pointee == JSONGrammar.colon else { return (nil, 0) }
            value = JSONGrammar.skipSpace(value + 1, end)
            return (value < end ? number(value, end, tag()) : nil, 0)
        }
        var search = MemberSearch(from: start, to: end, budget: budget)
        let key = key
        let outcome = search.find { text in key.find(text) == 0 }
        return switch outcome {
        case .value(let value): (number(value, end, tag()), search.skipped)
        case .missing: (count - 1, search.skipped)
        case .unreadable: (nil, search.skipped)
        }
    }

    private func number(_ p: BytePointer, _ end: BytePointer, _ tag: @autoclosure () -> SchemaTag) -> Int? {
        let other = literals + 3
        switch p.pointee {
        case JSONGrammar.quote:
            let scan = JSONGrammar.string(p + 1, end)
            guard scan.fault == .none else { return nil }
            let found = strings.find(JSONText(start: p + 1, end: scan.end - 1))
            return found >= 0 ? found : other
        case 0x2D, 0x30...0x39:
            if literals == strings.count { return other }
            let scan = JSONGrammar.number(p, end).scan
            guard scan.fault == .none else { return nil }
            return tag().numbers[ExactDecimal(p, scan.end)] ?? other
        case 0x74: return literals
        case 0x66: return literals + 1
        case 0x6E: return literals + 2
        case JSONGrammar.openBrace, JSONGrammar.openBracket: return other
        default: return nil
        }
    }
}
