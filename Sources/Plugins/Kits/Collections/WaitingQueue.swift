/// A first-in, first-out queue whose elements can also leave early, such as continuations of tasks that can be
/// cancelled.
package struct WaitingQueue<Element> {
    private var elements: [UInt64: Element] = [:]
    /// Includes the numbers of removed elements.
    private var order = FIFOQueue<UInt64>()
    private var last: UInt64 = 0

    package init() {}

    package var count: Int { elements.count }
    package var isEmpty: Bool { elements.isEmpty }
    /// Includes removed elements that aren't cleaned up yet.
    package var orderCount: Int { order.count }

    /// The element doesn't have to be added.
    package mutating func nextNumber() -> UInt64 {
        last += 1
        return last
    }

    package mutating func append(_ element: Element, _ number: UInt64) {
        if order.count > 2 * elements.count + 64 { compact() }
        elements[number] = element
        order.append(number)
    }

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

    package mutating func remove(_ number: UInt64) -> Element? { elements.removeValue(forKey: number) }

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
