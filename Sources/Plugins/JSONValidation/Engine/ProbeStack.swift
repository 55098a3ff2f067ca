/// An entry of a ``ProbeStack``, with its hash.
protocol ProbeEntry {
    var hash: UInt64 { get }
}

enum ProbeOutcome { case new, present, full }

/// An open-addressed hash table whose entries are removed in the reverse order of their insertion, as objects and arrays
/// close in the reverse order of their opening: a removal leaves no gap in a probe sequence.
struct ProbeStack<Entry: ProbeEntry> {
    private let limit: Int
    private var entries: [Entry] = []
    private var slots: [Int32] = []

    init(limit: Int) { self.limit = min(limit, Int(Int32.max) / 4) }

    var count: Int { entries.count }
    /// The bytes that the table takes.
    var size: Int { entries.capacity * MemoryLayout<Entry>.stride + slots.capacity * 4 }

    /// Adds an entry, unless one with its hash is equal to it.
    mutating func insert(_ entry: Entry, _ isEqual: (Entry) -> Bool) -> ProbeOutcome {
        let (slot, isPresent) = find(entry.hash, isEqual)
        if isPresent { return .present }
        if entries.count >= limit { return .full }
        entries.append(entry)
        if entries.count * 2 > slots.count { grow() } else { slots[slot] = Int32(entries.count) }
        return .new
    }

    func contains(_ hash: UInt64, _ isEqual: (Entry) -> Bool) -> Bool { find(hash, isEqual).isPresent }

    /// Removes the entries after the first `count`.
    mutating func removeAll(behind count: Int) {
        while entries.count > count {
            var slot = Int(truncatingIfNeeded: entries[entries.count - 1].hash) & (slots.count - 1)
            while slots[slot] != Int32(entries.count) { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = 0
            entries.removeLast()
        }
    }

    private func find(_ hash: UInt64, _ isEqual: (Entry) -> Bool) -> (slot: Int, isPresent: Bool) {
        if slots.isEmpty { return (0, false) }
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] != 0 {
            let entry = entries[Int(slots[slot]) - 1]
            if entry.hash == hash, isEqual(entry) { return (slot, true) }
            slot = (slot + 1) & (slots.count - 1)
        }
        return (slot, false)
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
