/// The last elements of an unbounded sequence of events.
struct BoundedLog<Element: Sendable>: Sendable {
    private var kept: [Element] = []
    /// The number of elements added so far.
    private(set) var total = 0

    /// The number of elements kept: fewer than twice the limit.
    var count: Int { kept.count }

    /// Adds an element, and returns the elements dropped for it. Drops half of the elements at once, so the amortized
    /// cost is constant.
    @discardableResult
    mutating func add(_ element: Element, limit: Int) -> [Element] {
        total += 1
        kept.append(element)
        return kept.count - limit >= limit ? drop(kept.count - limit) : []
    }

    /// Drops the oldest elements.
    mutating func drop(_ count: Int) -> [Element] {
        let dropped = Array(kept.prefix(count))
        kept.removeFirst(dropped.count)
        return dropped
    }

    /// Returns the last elements, up to the limit.
    func last(_ limit: Int) -> [Element] { kept.count > limit ? Array(kept.suffix(limit)) : kept }

    /// Returns the element at a position, counted from the first one ever added, or else the oldest kept element after
    /// it, with its position.
    func next(from position: Int) -> (element: Element, position: Int)? {
        let first = total - kept.count
        let position = max(position, first)
        return position < total ? (kept[position - first], position) : nil
    }
}
