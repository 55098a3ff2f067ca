import Errand

extension Set<UserMark> {
    /// Whether a response that was sent for these users may be stored for those for whom it was looked up. With a
    /// partition, which names the owner, marks may have been added since.
    func isStorable(for expected: Set<UserMark>, hasPartition: Bool) -> Bool {
        if self == expected { return true }
        guard hasPartition else { return false }
        let sources = Set<String>(expected.map(\.source))
        return Set(filter { sources.contains($0.source) }).isSubset(of: expected)
    }
}
