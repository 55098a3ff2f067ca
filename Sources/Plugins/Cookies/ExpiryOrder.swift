import ErrandEssentials

/// The cookies that expire, the earliest first: a heap. What a table has removed stays until its turn comes, or until
/// it makes up most of the heap.
struct ExpiryOrder {
    struct Item {
        let date: Date
        let slot: Int
        /// Distinguishes the cookie from others that have had its slot.
        let stamp: UInt64
    }

    private var heap: [Item] = []
    /// The number of items.
    var count: Int { heap.count }

    mutating func add(_ item: Item) {
        heap.append(item)
        var index = heap.count - 1
        while index > 0, heap[index].date < heap[(index - 1) / 2].date {
            heap.swapAt(index, (index - 1) / 2)
            index = (index - 1) / 2
        }
    }

    /// Takes the earliest, if its date is not after another.
    mutating func take(until date: Date) -> Item? {
        guard let first = heap.first, first.date <= date else { return nil }
        let last = heap.removeLast()
        if !heap.isEmpty {
            heap[0] = last
            sink(0)
        }
        return first
    }

    /// Removes what is not current any more.
    mutating func prune(keeping isCurrent: (Item) -> Bool) {
        heap.removeAll { !isCurrent($0) }
        for index in stride(from: heap.count / 2 - 1, through: 0, by: -1) { sink(index) }
    }

    private mutating func sink(_ start: Int) {
        var index = start
        while true {
            var least = index
            for child in [2 * index + 1, 2 * index + 2] where child < heap.count && heap[child].date < heap[least].date
            {
                least = child
            }
            if least == index { return }
            heap.swapAt(index, least)
            index = least
        }
    }
}
