import Errand

extension Set<UserMark> {
    /// Whether the response to what was sent for these users may be stored as that of others: those for whom it was looked
    /// up. With a partition, which says whose it is, what is added later may be more.
    func isStorable(for expected: Set<UserMark>, hasPartition: Bool) -> Bool {
        if self == expected { return true }
        guard hasPartition else { return false }
        let sources = Set<String>(expected.map(\.source))
        return Set(filter { sources.contains($0.source) }).isSubset(of: expected)
    }
}
