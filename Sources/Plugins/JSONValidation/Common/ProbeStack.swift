@usableFromInline package protocol ProbeEntry {
    var hash: UInt64 { get }
}

@usableFromInline package enum ProbeOutcome { case new, present, full }

/// An open-addressed hash table that works like a stack. Objects and arrays close in reverse order, so entries are
/// removed in reverse order, which leaves no gap in a probe sequence.
@usableFromInline package struct ProbeStack<Entry: ProbeEntry> {
    @usableFromInline let limit: Int
    @usableFromInline var entries: [Entry] = []
    @usableFromInline var slots: [Int32] = []

    @inlinable package init(limit: Int) { self.limit = min(limit, Int(Int32.max) / 4) }

    @inlinable package var count: Int { entries.count }
    /// In bytes.
    @inlinable package var size: Int { entries.capacity * MemoryLayout<Entry>.stride + slots.capacity * 4 }

    @inlinable package mutating func insert(_ entry: Entry, _ isEqual: (Entry) -> Bool) -> ProbeOutcome {
        let (slot, isPresent) = find(entry.hash, isEqual)
        if isPresent { return .present }
        if entries.count >= limit { return .full }
        entries.append(entry)
        if entries.count * 2 > slots.count { grow() } else { slots[slot] = Int32(entries.count) }
        return .new
    }

    @inlinable package func contains(_ hash: UInt64, _ isEqual: (Entry) -> Bool) -> Bool {
        find(hash, isEqual).isPresent
    }

    @inlinable package mutating func removeAll(behind count: Int) {
        while entries.count > count {
            var slot = Int(truncatingIfNeeded: entries[entries.count - 1].hash) & (slots.count - 1)
            while slots[slot] != Int32(entries.count) { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = 0
            entries.removeLast()
        }
    }

    @inlinable func find(_ hash: UInt64, _ isEqual: (Entry) -> Bool) -> (slot: Int, isPresent: Bool) {
        if slots.isEmpty { return (0, false) }
        var slot = Int(truncatingIfNeeded: hash) & (slots.count - 1)
        while slots[slot] != 0 {
            let entry = entries[Int(slots[slot]) - 1]
            if entry.hash == hash, isEqual(entry) { return (slot, true) }
            slot = (slot + 1) & (slots.count - 1)
        }
        return (slot, false)
    }

    @inlinable mutating func grow() {
        slots = [Int32](repeating: 0, count: max(64, slots.count * 2))
        for (index, entry) in entries.enumerated() {
            var slot = Int(truncatingIfNeeded: entry.hash) & (slots.count - 1)
            while slots[slot] != 0 { slot = (slot + 1) & (slots.count - 1) }
            slots[slot] = Int32(index + 1)
        }
    }
}
