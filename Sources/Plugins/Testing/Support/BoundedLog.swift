/// The last elements of a log that may go on for ever.
struct BoundedLog<Element: Sendable>: Sendable {
    private var kept: [Element] = []
    /// The number of all elements so far.
    private(set) var total = 0

    /// The number of elements that are kept: fewer than twice the limit.
    var count: Int { kept.count }

    /// Adds an element, and returns those that are dropped for it: half of them at a time, so that dropping costs
    /// nothing on average.
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

    /// The last elements, as many as the limit allows.
    func last(_ limit: Int) -> [Element] { kept.count > limit ? Array(kept.suffix(limit)) : kept }

    /// The element at a position among all, or the oldest one behind it that is kept; with its position.
    func next(from position: Int) -> (element: Element, position: Int)? {
        let first = total - kept.count
        let position = max(position, first)
        return position < total ? (kept[position - first], position) : nil
    }
}
