import Errand

extension Set<UserMark> {
    /// Returns whether a response sent for these users can be stored for the users of the lookup. With a partition,
    /// which names the owner, filters may have added marks since.
    func isStorable(for expected: Set<UserMark>, hasPartition: Bool) -> Bool {
        if self == expected { return true }
        guard hasPartition else { return false }
        let sources = Set<String>(expected.map(\.source))
        return Set(filter { sources.contains($0.source) }).isSubset(of: expected)
    }
}
