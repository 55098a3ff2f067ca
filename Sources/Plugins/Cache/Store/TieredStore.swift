import Errand
public import ErrandEssentials
import Synchronization

/// Combines a fast store with a large one. Reads try the fast store first. If only the large store has an entry, a read
/// copies it to the fast store. Writes go to both stores.
///
/// ```swift
/// filters: [.cache(.tiers(.memory(), .disk(at: directory)))]
/// ```
///
/// While an entry is being changed, reads use the large store. If several calls change an entry at the same time, it
/// isn't copied to the fast store.
public final class TieredStore<First: CacheStore, Second: CacheStore>: CacheStore {
    /// The fast store, which is read first.
    public let first: First
    /// The large store, which has all entries.
    public let second: Second
    private let state = Mutex(TieredState())
    private let immediate: (any ImmediateStore)?

    /// Creates a store from a fast store and a large one.
    public init(_ first: First, _ second: Second) {
        self.first = first
        self.second = second
        immediate = first as? any ImmediateStore
    }

    /// Returns the entry from the first store that has it. Doesn't copy a streamed body.
    public func entry(for key: CacheKey) async throws -> CacheEntry? {
        if state.withLock({ $0.isChanging(key) }) { return try await second.entry(for: key) }
        if let entry = try? await first.entry(for: key) { return entry }
        guard state.withLock({ $0.beginCopy(key) }) else { return try await second.entry(for: key) }
        let entry: CacheEntry?
        do { entry = try await second.entry(for: key) } catch {
            await end(key, isChange: false)
            throw error
        }
        if let entry, entry.body.data != nil { await copy(entry, key) }
        await end(key, isChange: false)
        return entry
    }

    /// Stores the entry in both stores. The first store is never older than the second.
    public func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        try await change(key) {
            try await first.remove(key)
            try await second.store(entry, for: key)
            // If the entry is too large for the first store, only the second store has it.
            if entry.body.data != nil { await copy(entry, key) }
        }
    }

    /// Replaces the head in the second store, and also in the first store if that has the entry.
    public func update(_ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey) async throws -> Bool {
        try await change(key) {
            let isDone: Bool
            do { isDone = try await second.update(head, replacing: old, for: key) } catch {
                // The second store may have replaced the head before it threw.
                try? await first.remove(key)
                throw error
            }
            let isAlone = state.withLock { !$0.isOutdated(key) }
            if isDone, isAlone, (try? await first.update(head, replacing: old, for: key)) == true { return true }
            try await first.remove(key)
            return isDone
        }
    }

    /// Removes the entry from both stores.
    public func remove(_ key: CacheKey) async throws {
        try await change(key) {
            try await second.remove(key)
            try await first.remove(key)
        }
    }

    /// Removes the matching entries from both stores.
    public func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws {
        state.withLock { $0.beginRemoval() }
        defer { state.withLock { $0.endRemoval() } }
        try await second.removeAll(where: matches)
        try await first.removeAll(where: matches)
    }

    /// Returns the secret of the second store.
    public func secret() async throws -> Data { try await second.secret() }

    private func copy(_ entry: CacheEntry, _ key: CacheKey) async {
        if state.withLock({ !$0.isOutdated(key) }) { try? await first.store(entry, for: key) }
    }

    private func change<Value: Sendable>(_ key: CacheKey, _ body: () async throws -> Value) async throws -> Value {
        state.withLock { $0.beginChange(key) }
        do {
            let value = try await body()
            await end(key, isChange: true)
            return value
        } catch {
            await end(key, isChange: true)
            throw error
        }
    }

    private func end(_ key: CacheKey, isChange: Bool) async {
        if state.withLock({ $0.isOutdated(key) }) { try? await first.remove(key) }
        state.withLock { $0.end(key, isChange: isChange) }
    }
}

extension TieredStore: ImmediateStore {
    func entryAtOnce(for key: CacheKey) -> KnownEntry {
        guard let immediate, !state.withLock({ $0.isChanging(key) }),
            case .entry(let entry) = immediate.entryAtOnce(for: key)
        else { return .unknown }
        return .entry(entry)
    }
}

private struct TieredState: Sendable {
    struct Work: Sendable {
        var changes = 0
        var copies = 0
        /// Whether the first store's copy may be older than the second store's entry.
        var isOutdated = false
    }

    private var works: [CacheKey: Work] = [:]
    private var removals = 0

    func isOutdated(_ key: CacheKey) -> Bool { works[key]?.isOutdated == true }

    /// Whether an entry is being changed. If so, reads must use the second store.
    func isChanging(_ key: CacheKey) -> Bool {
        if removals > 0 { return true }
        guard let work = works[key] else { return false }
        return work.changes > 0 || work.isOutdated
    }

    mutating func beginCopy(_ key: CacheKey) -> Bool {
        if isChanging(key) { return false }
        works[key, default: Work()].copies += 1
        return true
    }

    mutating func beginChange(_ key: CacheKey) {
        let isAlone = works[key] == nil && removals == 0
        works[key, default: Work()].changes += 1
        if !isAlone { works[key]?.isOutdated = true }
    }

    mutating func beginRemoval() {
        removals += 1
        for key in works.keys { works[key]?.isOutdated = true }
    }

    mutating func endRemoval() { removals -= 1 }

    mutating func end(_ key: CacheKey, isChange: Bool) {
        guard var work = works[key] else { return }
        if isChange { work.changes -= 1 } else { work.copies -= 1 }
        works[key] = work.changes == 0 && work.copies == 0 ? nil : work
    }
}

extension CacheStore {
    /// Creates a store from a fast store and a large one.
    public static func tiers<First: CacheStore, Second: CacheStore>(
        _ first: First, _ second: Second
    ) -> TieredStore<First, Second> where Self == TieredStore<First, Second> { TieredStore(first, second) }
}

/// A store that returns entries without waiting if it can, which saves the cost of async calls.
protocol ImmediateStore: CacheStore {
    func entryAtOnce(for key: CacheKey) -> KnownEntry
}

enum KnownEntry: Sendable {
    case entry(CacheEntry)
    case nothing
    case unknown
}
