import ErrandJSONSyntax
import ErrandJSONValidation

/// A set of strings in ``SchemaKeyTables``.
struct SchemaKeys {
    fileprivate let firstRule: Int
    let count: Int
    fileprivate let firstSlot: Int
    fileprivate let mask: Int
}

/// Sets of strings, prepared to find one of them in a text.
struct SchemaKeyTables {
    private var rules: [KeyRule] = []
    private var slots: [Int32] = []
    private var pool: [UInt8] = []

    /// Adds a set; also returns how many bytes it takes.
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

    /// Whether a text continues with a key and its closing quote; at least 16 bytes are left.
    @inline(__always) func isNext(_ index: Int, of keys: SchemaKeys, _ text: Span<UInt8>, _ p: Int) -> Bool {
        let place = keys.firstRule &+ index
        let rule = rules[place]
        return rule.starts(text, p) && (rule.length < 16 || isLongNext(place, text, p))
    }

    @inline(never) private func isLongNext(_ rule: Int, _ text: Span<UInt8>, _ p: Int) -> Bool {
        let length = Int(rules[rule].length)
        return text.count - p > length && text[p + length] == JSONGrammar.quote
            && Bytes.equal(text, p, pool.span, Int(rules[rule].text), count: length)
    }

    /// The length of a string in bytes.
    @inline(__always) func length(_ index: Int, of keys: SchemaKeys) -> Int {
        Int(rules[keys.firstRule &+ index].length)
    }

    /// The index of a string; -1 if it is none of the set.
    func find(
        _ text: Span<UInt8>, _ content: JSONContent, in keys: SchemaKeys, _ hasEscapes: Bool, _ hash: UInt64
    ) -> Int {
        var slot = Int(truncatingIfNeeded: hash) & keys.mask
        while true {
            let index = Int(slots[keys.firstSlot + slot])
            if index < 0 { return -1 }
            if isText(index, of: keys, text, content, hasEscapes) { return index }
            slot = (slot + 1) & keys.mask
        }
    }

    func find(_ text: Span<UInt8>, _ content: JSONContent, in keys: SchemaKeys) -> Int {
        let hasEscapes = content.hasEscapes(in: text)
        return find(text, content, in: keys, hasEscapes, KeyHash.hash(text, content, hasEscapes: hasEscapes))
    }

    private func isText(
        _ index: Int, of keys: SchemaKeys, _ text: Span<UInt8>, _ content: JSONContent, _ hasEscapes: Bool
    ) -> Bool {
        let rule = rules[keys.firstRule + index]
        if hasEscapes { return bytes(index, of: keys).elementsEqual(content.decoded(in: text)) }
        return content.count == Int(rule.length)
            && Bytes.equal(text, content.start, pool.span, Int(rule.text), count: content.count)
    }

    func bytes(_ index: Int, of keys: SchemaKeys) -> ArraySlice<UInt8> {
        let rule = rules[keys.firstRule + index]
        return pool[Int(rule.text)..<Int(rule.text) + Int(rule.length)]
    }

    func string(_ index: Int, of keys: SchemaKeys) -> String { String(decoding: bytes(index, of: keys), as: UTF8.self) }
}
