import Errand

import ErrandEssentials

/// Entries to remove.
///
/// ```swift
/// try await cache.remove(.prefix("https://api.example.com/users/"))
/// ```
public struct CacheSelection: Sendable, Hashable {
    enum Kind: Hashable { case all, expired, prefix(String), tag(String), partition(String) }
    let kind: Kind

    /// Everything.
    public static let all = CacheSelection(kind: .all)
    /// What is past its lifetime.
    public static let expired = CacheSelection(kind: .expired)
    /// What was asked for at a URL that starts so, as it stands on the wire.
    public static func prefix(_ url: String) -> CacheSelection { CacheSelection(kind: .prefix(url)) }
    /// What carries one of `cacheTags`.
    public static func tag(_ name: String) -> CacheSelection { CacheSelection(kind: .tag(name)) }
    /// What belongs to somebody.
    public static func partition(_ name: String) -> CacheSelection { CacheSelection(kind: .partition(name)) }
}

extension ResponseCache {
    /// Removes entries from the filter's store, those too that are about to be written or whose responses are on their way.
    /// Returns when they are gone: no response from before is served from then on. Throws what the store throws; entries
    /// that it could not remove may then still be served.
    ///
    /// A request's own store is removed from by ``remove(_:in:)``.
    public func remove(_ selection: CacheSelection) async throws { try await remove(selection, in: standardStore) }

    /// Removes entries from a store.
    public func remove(_ selection: CacheSelection, in store: any CacheStore) async throws {
        let matches = try await predicate(selection, store)
        let now = time.date
        writer.remove(in: store) { _, head in matches(head, now) }
        try await writer.inLine { try await store.removeAll { matches($0, now) } }
    }

    private func predicate(
        _ selection: CacheSelection, _ store: any CacheStore
    ) async throws -> @Sendable (CacheEntryHead, Date) -> Bool {
        switch selection.kind {
        case .all: return { _, _ in true }
        case .expired: return { head, now in head.expires < now }
        case .prefix(let prefix): return { head, _ in head.url.hasPrefix(prefix) }
        case .tag(let tag): return { head, _ in head.tags.contains(tag) }
        case .partition(let partition):
            let hash = try await keeper.hasher(of: store).hash(partition)
            return { head, _ in head.partition == hash }
        }
    }
}
