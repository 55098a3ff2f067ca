import Errand
import ErrandEssentials
import ErrandSupport

/// Selects entries to remove.
///
/// ```swift
/// try await cache.remove(.prefix("https://api.example.com/users/"))
/// ```
public struct CacheSelection: Sendable, Hashable {
    enum Kind: Hashable { case all, expired, prefix(String), tag(String), partition(String) }
    let kind: Kind

    /// Every entry of the store, for every user.
    public static let all = CacheSelection(kind: .all)
    /// Entries past their lifetime.
    public static let expired = CacheSelection(kind: .expired)
    /// Entries whose URL begins with a text. Compares the URL as it was sent, without its fragment.
    public static func prefix(_ url: String) -> CacheSelection { CacheSelection(kind: .prefix(url)) }
    /// Entries that have a tag. See ``CacheableRequest/cacheTags``.
    public static func tag(_ name: String) -> CacheSelection { CacheSelection(kind: .tag(name)) }
    /// Entries of a partition, which usually stands for one user.
    public static func partition(_ name: String) -> CacheSelection { CacheSelection(kind: .partition(name)) }
}

extension ResponseCache {
    /// Removes entries from the filter's store, including queued entries and responses in flight.
    ///
    /// Afterwards, the cache serves no response that was received before. If the store fails, the method throws the
    /// store's error, and entries that couldn't be removed may still be served.
    ///
    /// To remove entries from a request's own store, use ``remove(_:in:)``.
    public func remove(_ selection: CacheSelection) async throws { try await remove(selection, in: standardStore) }

    /// Removes entries from another store, such as a request's own. See ``remove(_:)``.
    public func remove(_ selection: CacheSelection, in store: any CacheStore) async throws {
        let matches = try await predicate(selection, store)
        let now = time.date
        try await writer.removeAll(in: store) { matches($0, now) }
    }

    private func predicate(
        _ selection: CacheSelection, _ store: any CacheStore
    ) async throws -> @Sendable (CacheEntryHead, Date) -> Bool {
        switch selection.kind {
        case .all: return { _, _ in true }
        case .expired: return { head, now in head.expires < now }
        case .prefix(let prefix): return { head, _ in head.url.utf8.starts(with: prefix.utf8) }
        case .tag(let tag): return { head, _ in head.tags.contains { $0.hasSameBytes(as: tag) } }
        case .partition(let partition):
            let hash = try await stores.open(store).hasher.hash(partition)
            return { head, _ in head.partition == hash }
        }
    }
}
