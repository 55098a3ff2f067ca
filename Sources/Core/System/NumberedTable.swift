/// A hash table whose keys are serial numbers from 1. A lookup costs one multiplication, a tenth of a dictionary's
/// hashing. Inlinable, so that other modules specialize it.
@usableFromInline package struct NumberedTable<Value> {
    /// The hash table. The number of slots is a power of two. At least half of the slots are free and have the number
    /// 0. A search compares only numbers, because comparing values would copy them.
    @usableFromInline var slots: [(number: UInt64, value: Value?)] = []
    @usableFromInline var shift = 64
    @usableFromInline var valueCount = 0

    @inlinable package init() {}

    @inlinable package var count: Int { valueCount }

    @inlinable package var all: [Value] { slots.compactMap(\.value) }

    @inlinable package subscript(number: UInt64) -> Value? { slots.isEmpty ? nil : slots[place(of: number)].value }

    @inlinable package mutating func add(_ value: Value, for number: UInt64) {
        if 2 * (count + 1) > slots.count { grow() }
        let place = place(of: number)
        if slots[place].number == 0 { valueCount += 1 }
        slots[place] = (number, value)
    }

    @discardableResult
    @inlinable package mutating func remove(_ number: UInt64) -> Value? {
        if slots.isEmpty { return nil }
        var free = place(of: number)
        guard slots[free].number != 0, let value = slots[free].value else { return nil }
        valueCount -= 1
        // A search stops at the first free slot, so freeing this slot could hide the values after it. Move each of them
        // into the free slot, unless its search starts after that slot.
        let mask = slots.count - 1
        var next = (free + 1) & mask
        while slots[next].number != 0 {
            if (next - home(of: slots[next].number)) & mask >= (next - free) & mask {
                slots[free] = slots[next]
                free = next
            }
            next = (next + 1) & mask
        }
        slots[free] = (0, nil)
        return value
    }

    @inlinable mutating func grow() {
        let old = slots
        slots = Array(repeating: (0, nil), count: max(16, 2 * old.count))
        shift = 64 - slots.count.trailingZeroBitCount
        for slot in old where slot.number != 0 { slots[place(of: slot.number)] = slot }
    }

    /// Returns the number's slot, or the free slot for a new number.
    @inlinable func place(of number: UInt64) -> Int {
        var index = home(of: number)
        while slots[index].number != 0, slots[index].number != number { index = (index + 1) & (slots.count - 1) }
        return index
    }

    /// Returns the slot where the search for a number starts. Fibonacci hashing spreads consecutive numbers far apart.
    @inlinable @inline(__always) func home(of number: UInt64) -> Int { Int((number &* 0x9E37_79B9_7F4A_7C15) >> shift) }
}

extension NumberedTable: Sendable where Value: Sendable {}
