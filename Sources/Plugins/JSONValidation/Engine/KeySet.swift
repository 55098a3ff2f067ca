/// The keys of the open objects, to find duplicates.
///
/// One open-addressed table for all objects: they close in the reverse order of their opening, so that keys are removed
/// in the reverse order of their insertion, and a removal leaves no gap in a probe sequence.
struct KeySet {
    enum Outcome { case new, duplicate, full }

    private struct Entry {
        var hash: UInt64
        var text: JSONText
        var object: Int
        var hasEscapes: Bool
    }

    let limit: Int
    private var entries: [Entry] = []
    private var slots: [Int32] = []

    init(limit: Int) { self.limit = min(limit, Int(Int32.max) / 4) }

    var count: Int { entries.count }

    /// Adds a key of an object, which has a unique number.
    mutating func insert(_ text: JSONText, hasEscapes: Bool, hash key: UInt64, object: Int) -> Outcome {
        let hash = Self.slotHash(key, object)
        let (slot, isThere) = find(text, hasEscapes, hash, object)
        if isThere { return .duplicate }
        if entries.count >= limit { return .full }
        entries.append(Entry(hash: hash, text: text, object: object, hasEscapes: hasEscapes))
        if entries.count * 2 > slots.count { grow() } else { slots[slot] = Int32(entries.count) }
        return .new
    }

    func contains(_ text: JSONText, hash key: UInt64, object: Int) -> Bool {
        find(text, false, Self.slotHash(key, object), object).isThere
    }

    /// Removes the keys after the first `count`.
    mutating func removeAll(behind count: Int) {
        while entries.count > count {
            var slot = Int(truncatingIfNeeded: entries[entries.count - 1].hash) & (slots.count - 1)
            while slots[slot] != Int32(entries.count) { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = 0
            entries.removeLast()
        }
    }

    private static func slotHash(_ key: UInt64, _ object: Int) -> UInt64 {
        KeyHash.mix(key ^ UInt64(truncatingIfNeeded: object), 0xA076_1D64_78BD_642F)
    }

    private func find(_ text: JSONText, _ hasEscapes: Bool, _ hash: UInt64, _ object: Int) -> (slot: Int, isThere: Bool)
    {
        if slots.isEmpty { return (0, false) }
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] != 0 {
            let entry = entries[Int(slots[slot]) - 1]
            if entry.hash == hash, entry.object == object, Self.equal(entry, text, hasEscapes) { return (slot, true) }
            slot = (slot + 1) & (slots.count - 1)
        }
        return (slot, false)
    }

    private static func equal(_ entry: Entry, _ text: JSONText, _ hasEscapes: Bool) -> Bool {
        if entry.hasEscapes || hasEscapes { return entry.text.decoded.elementsEqual(text.decoded) }
        return entry.text.count == text.count && Lexer.equal(entry.text.start, text.start, count: text.count)
    }

    private mutating func grow() {
        slots = [Int32](repeating: 0, count: max(64, slots.count * 2))
        for (index, entry) in entries.enumerated() {
            var slot = Int(truncatingIfNeeded: entry.hash) & (slots.count - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = Int32(index + 1)
        }
    }
}
