import Errand
import Synchronization

public import ErrandEssentials

/// A quick store before a large one: read in this order, written to both; what is found below is copied up.
///
/// ```swift
/// filters: [.cache(.tiers(.memory(), .disk(at: directory)))]
/// ```
public final class TieredStore<First: CacheStore, Second: CacheStore>: CacheStore {
    /// Looked into first.
    public let first: First
    /// Holds everything.
    public let second: Second
    private let copies = Mutex<[CacheKey: TieredCopy]>([:])

    /// Puts the one before the other.
    public init(_ first: First, _ second: Second) {
        self.first = first
        self.second = second
    }

    /// From the first store that has it. A body that is a stream stays below.
    public func entry(for key: CacheKey) async throws -> CacheEntry? {
        // While a copy on its way up may be of what was removed since, only the store below is right.
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

    /// Takes a copy back if what it was made of changed meanwhile.
    private func end(_ key: CacheKey) async {
        if copies.withLock({ $0[key]?.isOutdated == true }) { try? await first.remove(key) }
        copies.withLock { copies in
            copies[key]?.count -= 1
            if copies[key]?.count == 0 { copies[key] = nil }
        }
    }

    /// Into both. The upper one loses its old entry first, so that it never holds what is older than below.
    public func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        outdate { $0 == key }
        try await first.remove(key)
        try await second.store(entry, for: key)
        outdate { $0 == key }
        // What is too long for the first is in the second.
        if entry.body.data != nil { try? await first.store(entry, for: key) } else { try await first.remove(key) }
    }

    /// In both; the upper one gets a new head only if it has the entry.
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

    /// From both.
    public func remove(_ key: CacheKey) async throws {
        outdate { $0 == key }
        try await second.remove(key)
        outdate { $0 == key }
        try await first.remove(key)
    }

    /// From both.
    public func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws {
        outdate { _ in true }
        try await second.removeAll(where: matches)
        outdate { _ in true }
        try await first.removeAll(where: matches)
    }

    private func outdate(_ matches: (CacheKey) -> Bool) {
        copies.withLock { copies in for key in copies.keys where matches(key) { copies[key]?.isOutdated = true } }
    }

    /// The second's, which lives longer.
    public func secret() async throws -> Data { try await second.secret() }
}

/// Copies of one key on their way up.
private struct TieredCopy: Sendable {
    var count = 0
    /// Whether the entry was replaced or removed since the first began.
    var isOutdated = false
}

extension CacheStore {
    /// A quick store before a large one.
    public static func tiers<First: CacheStore, Second: CacheStore>(
        _ first: First, _ second: Second
    ) -> TieredStore<First, Second> where Self == TieredStore<First, Second> { TieredStore(first, second) }
}
