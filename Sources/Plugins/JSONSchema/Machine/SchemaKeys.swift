import ErrandJSONSyntax
import ErrandJSONValidation

/// A set of strings, prepared to find one of them in a text.
struct SchemaKeys {
    let rules: UnsafeMutablePointer<KeyRule>
    let count: Int
    private let slots: UnsafeMutablePointer<Int32>
    private let mask: Int
    private let pool: UnsafeMutablePointer<UInt8>

    init(_ keys: [[UInt8]], _ arena: SchemaArena) {
        count = keys.count
        pool = arena.copy(keys.flatMap { $0 })
        var offset = 0
        var made: [KeyRule] = []
        var size = 4
        while size < keys.count * 2 { size *= 2 }
        var table = [Int32](repeating: -1, count: size)
        for (index, key) in keys.enumerated() {
            made.append(KeyRule(key, text: offset, node: 0, isRequired: false))
            offset += key.count
            var slot = Int(truncatingIfNeeded: KeyHash.hash(key)) & (size - 1)
            while table[slot] >= 0 { slot = (slot + 1) & (size - 1) }
            table[slot] = Int32(index)
        }
        rules = arena.copy(made)
        slots = arena.copy(table)
        mask = size - 1
    }

    /// Whether a text continues with a key and its closing quote; at least 16 bytes are left.
    @inline(__always) func isNext(_ index: Int, _ p: BytePointer, _ end: BytePointer) -> Bool {
        let rule = rules + index
        guard Bytes.word(p) & rule.pointee.mask0 == rule.pointee.word0,
            Bytes.word(p + 8) & rule.pointee.mask1 == rule.pointee.word1
        else { return false }
        return rule.pointee.length < 16 || isLongNext(rule, p, end)
    }

    @inline(never) private func isLongNext(_ rule: UnsafeMutablePointer<KeyRule>, _ p: BytePointer, _ end: BytePointer)
        -> Bool
    {
        let length = Int(rule.pointee.length)
        return end - p > length && p[length] == JSONGrammar.quote
            && Bytes.equal(p, pool + Int(rule.pointee.text), count: length)
    }

    /// The index of a string; -1 if it is none of the set.
    func find(_ text: JSONText, _ hasEscapes: Bool, _ hash: UInt64) -> Int {
        var slot = Int(truncatingIfNeeded: hash) & mask
        while slots[slot] >= 0 {
            let index = Int(slots[slot])
            if isText(index, text, hasEscapes) { return index }
            slot = (slot + 1) & mask
        }
        return -1
    }

    func find(_ text: JSONText) -> Int {
        let hasEscapes = text.hasEscapes
        return find(text, hasEscapes, KeyHash.hash(text, hasEscapes: hasEscapes))
    }

    private func isText(_ index: Int, _ text: JSONText, _ hasEscapes: Bool) -> Bool {
        let length = Int(rules[index].length)
        if hasEscapes { return bytes(index).elementsEqual(text.decoded) }
        return length == text.count && Bytes.equal(text.start, pool + Int(rules[index].text), count: length)
    }

    func bytes(_ index: Int) -> UnsafeBufferPointer<UInt8> {
        UnsafeBufferPointer(start: pool + Int(rules[index].text), count: Int(rules[index].length))
    }

    func string(_ index: Int) -> String { String(decoding: bytes(index), as: UTF8.self) }
}

/// Memory that lives as long as its owner.
final class SchemaArena {
    private var blocks: [UnsafeMutableRawPointer] = []
    /// How many bytes there are.
    private(set) var size = 0

    deinit { for block in blocks { block.deallocate() } }

    /// Counts memory that others hold for the owner.
    func count(_ bytes: Int) { size += bytes }

    /// Copies the elements, which must not need to be destroyed.
    func copy<Element: BitwiseCopyable>(_ elements: [Element]) -> UnsafeMutablePointer<Element> {
        let pointer = make(Element.self, count: elements.count)
        for (index, element) in elements.enumerated() { (pointer + index).initialize(to: element) }
        return pointer
    }

    func copy<Element: BitwiseCopyable>(_ element: Element) -> UnsafeMutablePointer<Element> { copy([element]) }

    private func make<Element>(_ type: Element.Type, count: Int) -> UnsafeMutablePointer<Element> {
        let bytes = max(16, count * MemoryLayout<Element>.stride)
        let block = UnsafeMutableRawPointer.allocate(byteCount: bytes, alignment: 16)
        blocks.append(block)
        size += bytes
        return block.bindMemory(to: type, capacity: max(1, count))
    }
}
