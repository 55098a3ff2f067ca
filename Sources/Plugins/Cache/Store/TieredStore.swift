import Errand
import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

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
    /// Counts what was stored and removed.
    private let changes = Atomic<UInt64>(0)

    /// Puts the one before the other.
    public init(_ first: First, _ second: Second) {
        self.first = first
        self.second = second
    }

    /// From the first store that has it. A body that is a stream stays below.
    public func entry(for key: CacheKey) async throws -> CacheEntry? {
        if let entry = try? await first.entry(for: key) { return entry }
        let before = changes.load(ordering: .acquiring)
        guard let entry = try await second.entry(for: key) else { return nil }
        if entry.body.data != nil {
            try? await first.store(entry, for: key)
            // What was copied may have been replaced below in between.
            if changes.load(ordering: .acquiring) != before { try await first.remove(key) }
        }
        return entry
    }

    /// Into both. The upper one loses its old entry first, so that it never holds what is older than below.
    public func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        changes.add(1, ordering: .acquiringAndReleasing)
        try await first.remove(key)
        try await second.store(entry, for: key)
        changes.add(1, ordering: .acquiringAndReleasing)
        // What is too long for the first is in the second.
        if entry.body.data != nil { try? await first.store(entry, for: key) }
    }

    /// From both.
    public func remove(_ key: CacheKey) async throws {
        try await second.remove(key)
        changes.add(1, ordering: .acquiringAndReleasing)
        try await first.remove(key)
    }

    /// From both.
    public func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws {
        try await second.removeAll(where: matches)
        changes.add(1, ordering: .acquiringAndReleasing)
        try await first.removeAll(where: matches)
    }

    /// The second's, which lives longer.
    public func secret() async throws -> Data { try await second.secret() }
}

extension CacheStore {
    /// A quick store before a large one.
    public static func tiers<First: CacheStore, Second: CacheStore>(
        _ first: First, _ second: Second
    ) -> TieredStore<First, Second> where Self == TieredStore<First, Second> { TieredStore(first, second) }
}
