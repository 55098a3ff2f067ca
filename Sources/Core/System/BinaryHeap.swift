/// A priority queue that finds its smallest element in constant time.
package struct BinaryHeap<Element: Comparable> {
    private var elements: [Element] = []

    package init() {}

    package var first: Element? { elements.first }
    package var count: Int { elements.count }

    package mutating func insert(_ element: Element) {
        elements.append(element)
        var index = elements.count - 1
        while index > 0, elements[index] < elements[(index - 1) / 2] {
            elements.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    package mutating func popFirst() -> Element? {
        guard let first = elements.first, let last = elements.popLast() else { return nil }
        if elements.isEmpty { return first }
        elements[0] = last
        var index = 0
        while true {
            let (left, right) = (2 * index + 1, 2 * index + 2)
            var least = index
            if left < elements.count, elements[left] < elements[least] { least = left }
            if right < elements.count, elements[right] < elements[least] { least = right }
            if least == index { return first }
            elements.swapAt(index, least)
            index = least
        }
    }
}

extension BinaryHeap: Sendable where Element: Sendable {}
