/// Keeps the newest elements, within limits for their number and total cost. Counts the elements it drops.
struct BoundedHistory<Element: Sendable>: Sendable {
    private var elements: [(element: Element?, cost: Int)] = []
    /// The index of the oldest element. Earlier slots are empty; they are removed in batches.
    private var first = 0
    private(set) var cost = 0
    private let limit: Int
    private let costLimit: Int
    private(set) var dropped = 0

    init(limit: Int, costLimit: Int) { (self.limit, self.costLimit) = (max(0, limit), max(0, costLimit)) }

    /// All elements, oldest first.
    var all: [Element] { elements[first...].compactMap(\.element) }

    /// The position of the next element, counting every element ever added.
    var end: Int { dropped + elements.count - first }

    /// `nil` if the element doesn't exist or was dropped.
    subscript(position: Int) -> Element? {
        position < dropped || position >= end ? nil : elements[first + position - dropped].element
    }

    mutating func append(_ element: Element, cost new: Int) {
        elements.append((element, new))
        cost += new
        drop()
    }

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
