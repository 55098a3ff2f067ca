/// A store that knows some entries, or all, without a wait: reading them costs no async frames.
protocol ImmediateStore: CacheStore {
    /// The entry of a key, as `entry(for:)` would return it.
    func entryAtOnce(for key: CacheKey) -> KnownEntry
}

/// What is known of an entry without a wait.
enum KnownEntry: Sendable {
    case entry(CacheEntry)
    case nothing
    /// Only a read that waits can tell.
    case unknown
}
