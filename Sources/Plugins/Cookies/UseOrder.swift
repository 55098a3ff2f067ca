/// Lists of a table's slots in the order of their last use. A slot joins and leaves a list without a search.
struct UseOrder {
    /// The ends of a list; -1 where it is empty.
    struct Ends {
        /// The slot that was not used for the longest time.
        fileprivate(set) var first = -1
        fileprivate var last = -1
    }

    private var links: [(previous: Int, next: Int)] = []

    /// Adds a slot that is in no list, as the one used last.
    mutating func append(_ slot: Int, to ends: inout Ends) {
        while links.count <= slot { links.append((-1, -1)) }
        links[slot] = (ends.last, -1)
        if ends.last < 0 { ends.first = slot } else { links[ends.last].next = slot }
        ends.last = slot
    }

    /// Removes a slot from its list.
    mutating func remove(_ slot: Int, from ends: inout Ends) {
        let (previous, next) = links[slot]
        if previous < 0 { ends.first = next } else { links[previous].next = next }
        if next < 0 { ends.last = previous } else { links[next].previous = previous }
    }

    /// Makes a slot the one used last.
    mutating func use(_ slot: Int, in ends: inout Ends) {
        if ends.last == slot { return }
        remove(slot, from: &ends)
        append(slot, to: &ends)
    }
}
