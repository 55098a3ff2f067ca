/// A first-in, first-out queue with amortized constant time per element.
package struct FIFOQueue<Element> {
    private var slots: [Element?] = []
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
        // Moving once half of the slots are free costs at most one move per removal on average.
        if 2 * start >= slots.count {
            slots.removeFirst(start)
            start = 0
        }
        return element
    }
}

extension FIFOQueue: Sendable where Element: Sendable {}
