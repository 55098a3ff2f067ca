package import ErrandJSONSyntax

/// The keys of the open objects, to find duplicates: one table for all of them.
@usableFromInline package struct KeySet {
    @usableFromInline struct Entry: ProbeEntry {
        @usableFromInline var hash: UInt64
        var text: JSONText
        var object: Int
        var hasEscapes: Bool

        func isKey(_ text: JSONText, _ hasEscapes: Bool, _ object: Int) -> Bool {
            guard self.object == object else { return false }
            if self.hasEscapes || hasEscapes { return self.text.decoded.elementsEqual(text.decoded) }
            return self.text.count == text.count && Bytes.equal(self.text.start, text.start, count: text.count)
        }
    }

    @usableFromInline var table: ProbeStack<Entry>

    package init(limit: Int) { table = ProbeStack(limit: limit) }

    @inlinable package var count: Int { table.count }
    /// The bytes that the table takes.
    @inlinable package var size: Int { table.size }

    /// The most keys.
    var limit: Int { table.limit }

    /// A key by its number, prepared to be compared.
    func key(_ index: Int) -> OrderedKey {
        OrderedKey(table.entries[index].text, hasEscapes: table.entries[index].hasEscapes)
    }

    /// Adds a key of an object, which has a unique number.
    package mutating func insert(_ text: JSONText, hasEscapes: Bool, hash key: UInt64, object: Int) -> ProbeOutcome {
        let entry = Entry(hash: Self.slotHash(key, object), text: text, object: object, hasEscapes: hasEscapes)
        return table.insert(entry) { $0.isKey(text, hasEscapes, object) }
    }

    func contains(_ text: JSONText, hash key: UInt64, object: Int) -> Bool {
        table.contains(Self.slotHash(key, object)) { $0.isKey(text, false, object) }
    }

    /// Removes the keys after the first `count`.
    @inlinable package mutating func removeAll(behind count: Int) { table.removeAll(behind: count) }

    private static func slotHash(_ key: UInt64, _ object: Int) -> UInt64 {
        KeyHash.mix(key ^ UInt64(truncatingIfNeeded: object), 0xA076_1D64_78BD_642F)
    }
}
