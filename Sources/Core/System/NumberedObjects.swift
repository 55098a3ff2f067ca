/// A hash table of objects by serial numbers. One multiplication spreads them; a dictionary hashes them against chosen
/// keys at ten times the cost.
package struct NumberedObjects: Sendable {
    package typealias Object = any AnyObject & Sendable

    /// A power of two in size. At least half of the slots are free, without an object.
    private var slots: [(number: UInt64, object: Object?)] = []
    private var shift = 64
    package private(set) var count = 0

    package init() {}

    /// All objects, in no particular order.
    package var all: [Object] { slots.compactMap(\.object) }

    package subscript(number: UInt64) -> Object? { slots.isEmpty ? nil : slots[place(of: number)].object }

    package mutating func add(_ object: Object, for number: UInt64) {
        if 2 * (count + 1) > slots.count { grow() }
        let place = place(of: number)
        if slots[place].object == nil { count += 1 }
        slots[place] = (number, object)
    }

    @discardableResult
    package mutating func remove(_ number: UInt64) -> Object? {
        if slots.isEmpty { return nil }
        var free = place(of: number)
        guard let object = slots[free].object else { return nil }
        count -= 1
        // A search ends at a free slot, so move up the following objects that aren't in their home slot.
        let mask = slots.count - 1
        var next = (free + 1) & mask
        while slots[next].object != nil {
            if (next - home(of: slots[next].number)) & mask >= (next - free) & mask {
                slots[free] = slots[next]
                free = next
            }
            next = (next + 1) & mask
        }
        slots[free] = (0, nil)
        return object
    }

    private mutating func grow() {
        let old = slots
        slots = Array(repeating: (0, nil), count: max(16, 2 * old.count))
        shift = 64 - slots.count.trailingZeroBitCount
        for slot in old where slot.object != nil { slots[place(of: slot.number)] = slot }
    }

    /// Returns the number's slot, or else the free slot to use for it.
    private func place(of number: UInt64) -> Int {
        var index = home(of: number)
        while slots[index].object != nil, slots[index].number != number { index = (index + 1) & (slots.count - 1) }
        return index
    }

    /// Fibonacci hashing, which spreads consecutive numbers far apart.
    private func home(of number: UInt64) -> Int { Int((number &* 0x9E37_79B9_7F4A_7C15) >> shift) }
}
