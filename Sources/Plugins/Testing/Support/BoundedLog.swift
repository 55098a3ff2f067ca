struct BoundedLog<Element: Sendable>: Sendable {
    private var kept: [Element] = []
    private(set) var total = 0

    /// The number of elements in the log. It's less than twice the limit.
    var count: Int { kept.count }

    /// Adds an element. Returns the elements that it drops. The log drops half of its elements at once, so the cost per
    /// element is constant on average.
    @discardableResult
    mutating func add(_ element: Element, limit: Int) -> [Element] {
        total += 1
        kept.append(element)
        return kept.count - limit >= limit ? drop(kept.count - limit) : []
    }

    mutating func drop(_ count: Int) -> [Element] {
        let dropped = Array(kept.prefix(count))
        kept.removeFirst(dropped.count)
        return dropped
    }

    func last(_ limit: Int) -> [Element] { kept.count > limit ? Array(kept.suffix(limit)) : kept }

    /// Returns the element at a position, and the next position. Positions count all elements that were ever added. If
    /// the log has dropped the element, returns the oldest element that it still has.
    func next(from position: Int) -> (element: Element, position: Int)? {
        let first = total - kept.count
        let position = max(position, first)
        return position < total ? (kept[position - first], position) : nil
    }
}
