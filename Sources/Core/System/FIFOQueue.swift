/// Elements that are taken in the order in which they were added, each at the same cost however many wait.
package struct FIFOQueue<Element> {
    private var slots: [Element?] = []
    /// The index of the first element; the slots before it are free.
    private var start = 0

    package init() {}

    package var count: Int { slots.count - start }
    package var isEmpty: Bool { start == slots.count }
    package var first: Element? { isEmpty ? nil : slots[start] }

    package mutating func append(_ element: Element) { slots.append(element) }

    package mutating func popFirst() -> Element? {
        if isEmpty { return nil }
        var element: Element?
        swap(&element, &slots[start])
        start += 1
        // The elements move up once half of the slots are free: one move for each that was taken.
        if 2 * start >= slots.count {
            slots.removeFirst(start)
            start = 0
        }
        return element
    }
}

extension FIFOQueue: Sendable where Element: Sendable {}

/// Elements that are taken in the order in which they were added, and that may leave before, such as the continuations
/// of tasks that may be cancelled.
package struct WaitingQueue<Element> {
    private var elements: [UInt64: Element] = [:]
    /// Those that have left are among them.
    private var order = FIFOQueue<UInt64>()
    private var last: UInt64 = 0

    package init() {}

    package var count: Int { elements.count }
    package var isEmpty: Bool { elements.isEmpty }
    /// With those that have left and are not forgotten yet.
    package var orderCount: Int { order.count }

    /// A number for an element, which need not be added.
    package mutating func nextNumber() -> UInt64 {
        last += 1
        return last
    }

    /// Adds an element behind the others.
    package mutating func append(_ element: Element, _ number: UInt64) {
        if order.count > 2 * elements.count + 64 { compact() }
        elements[number] = element
        order.append(number)
    }

    /// The first element; nil if there is none.
    package var first: Element? {
        mutating get {
            while let number = order.first {
                if let element = elements[number] { return element }
                _ = order.popFirst()
            }
            return nil
        }
    }

    package mutating func popFirst() -> Element? {
        while let number = order.popFirst() {
            if let element = elements.removeValue(forKey: number) { return element }
        }
        return nil
    }

    /// Removes an element; nil if it has left before.
    package mutating func remove(_ number: UInt64) -> Element? { elements.removeValue(forKey: number) }

    /// Removes all but the first elements, and returns them in their order.
    package mutating func removeLast(upTo maximum: Int) -> [Element] {
        var (kept, left, removed) = (FIFOQueue<UInt64>(), 0, [Element]())
        while let number = order.popFirst() {
            if left < maximum, elements[number] != nil {
                kept.append(number)
                left += 1
            } else if let element = elements.removeValue(forKey: number) {
                removed.append(element)
            }
        }
        order = kept
        return removed
    }

    /// Removes all elements, and returns them in their order.
    package mutating func removeAll() -> [Element] {
        var all: [Element] = []
        while let element = popFirst() { all.append(element) }
        return all
    }

    private mutating func compact() {
        var left = FIFOQueue<UInt64>()
        while let number = order.popFirst() { if elements[number] != nil { left.append(number) } }
        order = left
    }
}

extension WaitingQueue: Sendable where Element: Sendable {}
