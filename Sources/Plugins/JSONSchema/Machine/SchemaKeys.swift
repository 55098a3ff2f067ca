import ErrandJSONSyntax
import ErrandJSONValidation

struct SchemaKeys {
    fileprivate let firstRule: Int
    let count: Int
    fileprivate let firstSlot: Int
    fileprivate let mask: Int
}

struct SchemaKeyTables {
    private var rules: [KeyRule] = []
    private var slots: [Int32] = []
    private var pool: ContiguousArray<UInt8> = []

    mutating func add(_ keys: [[UInt8]]) -> (SchemaKeys, bytes: Int) {
        var size = 4
        while size < keys.count * 2 { size *= 2 }
        let set = SchemaKeys(firstRule: rules.count, count: keys.count, firstSlot: slots.count, mask: size - 1)
        slots += [Int32](repeating: -1, count: size)
        var length = 0
        for (index, key) in keys.enumerated() {
            rules.append(KeyRule(key, text: pool.count, node: 0, isRequired: false))
            pool += key
            length += key.count
            var slot = Int(truncatingIfNeeded: KeyHash.hash(key)) & set.mask
            while slots[set.firstSlot + slot] >= 0 { slot = (slot + 1) & set.mask }
            slots[set.firstSlot + slot] = Int32(index)
        }
        let bytes = max(16, length) + max(16, keys.count * MemoryLayout<KeyRule>.stride) + size * 4
        return (set, bytes)
    }

    /// At least 16 bytes must be left.
    @inline(__always) func isNext(_ index: Int, of keys: SchemaKeys, in text: Span<UInt8>, at p: Int) -> Bool {
        let place = keys.firstRule &+ index
        let rule = rules[place]
        return rule.starts(text, p) && (rule.length < 16 || isLongNext(place, in: text, at: p))
    }

    @inline(never) private func isLongNext(_ rule: Int, in text: Span<UInt8>, at p: Int) -> Bool {
        let length = Int(rules[rule].length)
        return text.count - p > length && text[p + length] == JSONGrammar.quote
            && Bytes.equal(text, at: p, to: pool.span, at: Int(rules[rule].text), count: length)
    }

    @inline(__always) func length(_ index: Int, of keys: SchemaKeys) -> Int {
        Int(rules[keys.firstRule &+ index].length)
    }

    /// Returns the string's index in the set, or -1.
    func find(
        _ text: Span<UInt8>, _ content: JSONContent, in keys: SchemaKeys, hasEscapes: Bool, hash: UInt64
    ) -> Int {
        var slot = Int(truncatingIfNeeded: hash) & keys.mask
        while true {
            let index = Int(slots[keys.firstSlot + slot])
            if index < 0 { return -1 }
            if isText(index, of: keys, in: text, at: content, hasEscapes: hasEscapes) { return index }
            slot = (slot + 1) & keys.mask
        }
    }

    func find(_ text: Span<UInt8>, _ content: JSONContent, in keys: SchemaKeys) -> Int {
        let hasEscapes = content.hasEscapes(in: text)
        return find(
            text, content, in: keys, hasEscapes: hasEscapes, hash: KeyHash.hash(text, content, hasEscapes: hasEscapes))
    }

    private func isText(
        _ index: Int, of keys: SchemaKeys, in text: Span<UInt8>, at content: JSONContent, hasEscapes: Bool
    ) -> Bool {
        let rule = rules[keys.firstRule + index]
        if hasEscapes { return bytes(index, of: keys).elementsEqual(content.decoded(in: text)) }
        return content.count == Int(rule.length)
            && Bytes.equal(text, at: content.start, to: pool.span, at: Int(rule.text), count: content.count)
    }

    func bytes(_ index: Int, of keys: SchemaKeys) -> ArraySlice<UInt8> {
        let rule = rules[keys.firstRule + index]
        return pool[Int(rule.text)..<Int(rule.text) + Int(rule.length)]
    }

    func string(_ index: Int, of keys: SchemaKeys) -> String { String(decoding: bytes(index, of: keys), as: UTF8.self) }
}

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

    /// Looks for the tag in an object. `value` is `nil` if the tag can't be read or is too far away. `skipped` is the
    /// number of bytes searched.
    func value(
        in text: Span<UInt8>, from start: Int, _ keys: SchemaKeyTables, budget: Int, _ tag: SchemaTag
    ) -> (value: Int?, skipped: Int) {
        let p = JSONGrammar.skipSpace(in: text, from: start + 1)
        // Usually the tag comes first.
        if text.count - p > 16, text[p] == JSONGrammar.quote, keys.isNext(0, of: key, in: text, at: p + 1) {
            var value = JSONGrammar.skipSpace(in: text, from: p + keys.length(0, of: key) + 2)
            guard value < text.count, text[value] == JSONGrammar.colon else { return (nil, 0) }
            value = JSONGrammar.skipSpace(in: text, from: value + 1)
            return (value < text.count ? number(text, at: value, keys: keys, tag: tag) : nil, 0)
        }
        var search = MemberSearch(in: text, from: start, budget: budget)
        let outcome = search.find(in: text) { keys.find(text, $0, in: key) == 0 }
        return switch outcome {
        case .value(let value): (number(text, at: value, keys: keys, tag: tag), search.skipped)
        case .missing: (count - 1, search.skipped)
        case .unreadable: (nil, search.skipped)
        }
    }

    private func number(_ text: Span<UInt8>, at p: Int, keys: SchemaKeyTables, tag: SchemaTag) -> Int? {
        let other = literals + 3
        switch text[p] {
        case JSONGrammar.quote:
            let scan = JSONGrammar.string(in: text, from: p + 1)
            guard scan.fault == .none else { return nil }
            let found = keys.find(text, JSONContent(p + 1, scan.index - 1), in: strings)
            return found >= 0 ? found : other
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            if literals == strings.count { return other }
            let scan = JSONGrammar.number(in: text, from: p).end
            guard scan.fault == .none else { return nil }
            return tag.numbers[ExactDecimal(text, p..<scan.index)] ?? other
        case UInt8(ascii: "t"): return literals
        case UInt8(ascii: "f"): return literals + 1
        case UInt8(ascii: "n"): return literals + 2
        case JSONGrammar.openBrace, JSONGrammar.openBracket: return other
        default: return nil
        }
    }
}
