import ErrandJSONSyntax
import ErrandJSONValidation

/// A tag, prepared to find its value in a text.
struct SchemaTagTable {
    private let key: SchemaKeys
    private let strings: SchemaKeys
    private let literals: Int
    let count: Int

    init(_ tag: SchemaTag, _ arena: inout SchemaArena) {
        key = arena.addKeys([tag.key])
        strings = arena.addKeys(tag.strings)
        (literals, count) = (tag.literals, tag.branches.count)
    }

    /// The number of the value of the tag in an object, nil if it cannot be read or is too far away; and how many bytes were
    /// skipped to find it.
    func value(
        in text: Span<UInt8>, from start: Int, _ keys: SchemaKeyTables, budget: Int, _ tag: SchemaTag
    ) -> (value: Int?, skipped: Int) {
        let p = JSONGrammar.skipSpace(in: text, from: start + 1)
        // Mostly the tag comes first.
        if text.count - p > 16, text[p] == JSONGrammar.quote, keys.isNext(0, of: key, text, p + 1) {
            var value = JSONGrammar.skipSpace(in: text, from: p + keys.length(0, of: key) + 2)
            guard value < text.count, text[value] == JSONGrammar.colon else { return (nil, 0) }
            value = JSONGrammar.skipSpace(in: text, from: value + 1)
            return (value < text.count ? number(text, value, keys, tag) : nil, 0)
        }
        var search = MemberSearch(in: text, from: start, budget: budget)
        let outcome = search.find(in: text) { keys.find(text, $0, in: key) == 0 }
        return switch outcome {
        case .value(let value): (number(text, value, keys, tag), search.skipped)
        case .missing: (count - 1, search.skipped)
        case .unreadable: (nil, search.skipped)
        }
    }

    private func number(_ text: Span<UInt8>, _ p: Int, _ keys: SchemaKeyTables, _ tag: SchemaTag) -> Int? {
        let other = literals + 3
        switch text[p] {
        case JSONGrammar.quote:
            let scan = JSONGrammar.string(in: text, from: p + 1)
            guard scan.fault == .none else { return nil }
            let found = keys.find(text, JSONContent(p + 1, scan.index - 1), in: strings)
            return found >= 0 ? found : other
        case 0x2D, 0x30...0x39:
            if literals == strings.count { return other }
            let scan = JSONGrammar.number(in: text, from: p).end
            guard scan.fault == .none else { return nil }
            return tag.numbers[ExactDecimal(text, p..<scan.index)] ?? other
        case 0x74: return literals
        case 0x66: return literals + 1
        case 0x6E: return literals + 2
        case JSONGrammar.openBrace, JSONGrammar.openBracket: return other
        default: return nil
        }
    }
}
