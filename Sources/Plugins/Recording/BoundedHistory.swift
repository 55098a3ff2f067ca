/// The newest elements, bounded by their number and by their total cost; counts those that it drops.
struct BoundedHistory<Element: Sendable>: Sendable {
    private var elements: [(element: Element?, cost: Int)] = []
    /// The position of the oldest element: the positions before it are empty, and removed together now and then.
    private var first = 0
    /// Of all elements together.
    private(set) var cost = 0
    private let limit: Int
    private let costLimit: Int
    /// The number of dropped elements.
    private(set) var dropped = 0

    init(limit: Int, costLimit: Int) { (self.limit, self.costLimit) = (max(0, limit), max(0, costLimit)) }

    /// Oldest first.
    var all: [Element] { elements[first...].compactMap(\.element) }

    /// The position of the next element, counted from the first that there ever was.
    var end: Int { dropped + elements.count - first }

    /// Nil for one that is not there, or no longer.
    subscript(position: Int) -> Element? {
        position < dropped || position >= end ? nil : elements[first + position - dropped].element
    }

    mutating func append(_ element: Element, cost new: Int) {
        elements.append((element, new))
        cost += new
        drop()
    }

    /// Corrects the cost of an element, if it is still there.
    mutating func setCost(_ new: Int, at position: Int) {
        guard self[position] != nil else { return }
        let index = first + position - dropped
        cost += new - elements[index].cost
        elements[index].cost = new
        drop()
    }

    private mutating func drop() {
        while elements.count - first > limit || cost > costLimit, first < elements.count {
            cost -= elements[first].cost
            elements[first].element = nil
            first += 1
            dropped += 1
        }
        if first > elements.count / 2 || first == elements.count {
            elements.removeFirst(first)
            first = 0
        }
    }
}
