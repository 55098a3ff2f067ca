import ErrandJSONValidation

/// The elements of the open arrays that must not have equal ones: one table for all of them. Elements with equal digests are
/// compared by their texts.
struct UniqueSet {
    private struct Entry: ProbeEntry {
        var hash: UInt64
        /// The element in the text.
        var range: Range<Int>
        /// The length of the canonical form.
        var length: Int
        var array: Int
    }

    private var table: ProbeStack<Entry>
    /// How many bytes were compared since this was asked.
    private var compared = 0

    init(limit: Int) { table = ProbeStack(limit: limit) }

    var count: Int { table.count }
    /// The bytes that the table takes.
    var size: Int { table.size }

    mutating func insert(
        _ text: Span<UInt8>, _ range: Range<Int>, _ digest: ValueDigest, array: Int
    ) -> ProbeOutcome {
        let hash = KeyHash.mix(digest.hash ^ UInt64(truncatingIfNeeded: array), 0x2D35_8DCC_AA6C_78A5)
        var compared = 0
        let entry = Entry(hash: hash, range: range, length: digest.length, array: array)
        let outcome = table.insert(entry) { other in
            guard other.array == array, other.length == digest.length else { return false }
            compared += range.count + other.range.count
            return JSONEquality.areEqual(text, other.range, text, range)
        }
        self.compared += compared
        return outcome
    }

    /// How many bytes were compared since the last call.
    mutating func takeCompared() -> Int {
        defer { compared = 0 }
        return compared
    }

    /// Removes the elements after the first `count`.
    mutating func removeAll(behind count: Int) { table.removeAll(behind: count) }
}
