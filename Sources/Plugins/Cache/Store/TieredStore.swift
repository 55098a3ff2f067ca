import Errand
import Synchronization

public import ErrandEssentials

/// A fast store in front of a large one: reads try them in this order and copy entries up, writes go to both.
///
/// ```swift
/// filters: [.cache(.tiers(.memory(), .disk(at: directory)))]
/// ```
public final class TieredStore<First: CacheStore, Second: CacheStore>: CacheStore {
    /// The fast store, which is read first.
    public let first: First
    /// The large store, which has all entries.
    public let second: Second
    private let copies = Mutex<[CacheKey: TieredCopy]>([:])

    /// Combines two stores.
    public init(_ first: First, _ second: Second) {
        self.first = first
        self.second = second
    }

    /// Returns the entry of the first store that has it. An entry whose body is a stream is not copied up.
    public func entry(for key: CacheKey) async throws -> CacheEntry? {
        // While an outdated copy may still be written to the first store, only the second is valid.
        if copies.withLock({ $0[key]?.isOutdated == true }) { return try await second.entry(for: key) }
        if let entry = try? await first.entry(for: key) { return entry }
        begin(key)
        let entry: CacheEntry?
        do { entry = try await second.entry(for: key) } catch {
            await end(key)
            throw error
        }
        if let entry, entry.body.data != nil, !copies.withLock({ $0[key]?.isOutdated == true }) {
            try? await first.store(entry, for: key)
        }
        await end(key)
        return entry
    }

    private func begin(_ key: CacheKey) { copies.withLock { $0[key, default: TieredCopy()].count += 1 } }

    /// Removes a copy if its entry changed meanwhile.
    private func end(_ key: CacheKey) async {
        if copies.withLock({ $0[key]?.isOutdated == true }) { try? await first.remove(key) }
        copies.withLock { copies in
            copies[key]?.count -= 1
            if copies[key]?.count == 0 { copies[key] = nil }
        }
    }

    /// Stores the entry in both. The first store loses its old entry first, so that it is never older than the second.
    public func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        outdate { $0 == key }
        try await first.remove(key)
        try await second.store(entry, for: key)
        outdate { $0 == key }
        // An entry that is too large for the first store is only in the second.
        if entry.body.data != nil { try? await first.store(entry, for: key) } else { try await first.remove(key) }
    }

    /// Replaces the head in both; in the first store only if it has the entry.
    public func update(_ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey) async throws -> Bool {
        outdate { $0 == key }
        guard try await second.update(head, replacing: old, for: key) else {
            try await first.remove(key)
            return false
        }
        outdate { $0 == key }
        if (try? await first.update(head, replacing: old, for: key)) != true { try await first.remove(key) }
        return true
    }

    /// Removes the entry from both.
    public func remove(_ key: CacheKey) async throws {
        outdate { $0 == key }
        try await second.remove(key)
        outdate { $0 == key }
        try await first.remove(key)
    }

    /// Removes the matching entries from both.
    public func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws {
        outdate { _ in true }
        try await second.removeAll(where: matches)
        outdate { _ in true }
        try await first.removeAll(where: matches)
    }

    private func outdate(_ matches: (CacheKey) -> Bool) {
        copies.withLock { copies in for key in copies.keys where matches(key) { copies[key]?.isOutdated = true } }
    }

    /// The secret of the second store, which outlives the first.
    public func secret() async throws -> Data { try await second.secret() }
}

/// The copies of one key to the first store that are in progress.
private struct TieredCopy: Sendable {
    var count = 0
    /// Whether the entry was replaced or removed since the first began.
    var isOutdated = false
}

extension CacheStore {
    /// A fast store in front of a large one.
    public static func tiers<First: CacheStore, Second: CacheStore>(
        _ first: First, _ second: Second
    ) -> TieredStore<First, Second> where Self == TieredStore<First, Second> { TieredStore(first, second) }
}
