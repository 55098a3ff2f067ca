/// The last elements of an unbounded sequence of events.
struct BoundedLog<Element: Sendable>: Sendable {
    private var kept: [Element] = []
    private(set) var total = 0

    /// Fewer than twice the limit.
    var count: Int { kept.count }

    /// Returns dropped elements. Drops half of them at once, for a constant amortized cost.
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

    /// Returns the element at a position among all elements ever added, or the oldest kept one after it.
    func next(from position: Int) -> (element: Element, position: Int)? {
        let first = total - kept.count
        let position = max(position, first)
        return position < total ? (kept[position - first], position) : nil
    }
}
