import ErrandCache
import ErrandTesting
import Foundation
import Synchronization

final class HeldStore: CacheStore {
    private let memory = MemoryStore()
    private let gate = Gate()
    private let heads = Mutex<[CacheEntryHead]>([])

    func release() { gate.open() }
    func written() -> [CacheEntryHead] { heads.withLock { $0 } }
    func entry(for key: CacheKey) async throws -> CacheEntry? { await memory.entry(for: key) }
    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        try await gate.wait(within: .seconds(60))
        heads.withLock { $0.append(entry.head) }
        try await memory.store(entry, for: key)
    }
    func remove(_ key: CacheKey) async throws { await memory.remove(key) }
    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws {
        await memory.removeAll(where: matches)
    }
    func secret() async throws -> Data { await memory.secret() }
}

/// Fails at everything except its secret.
final class FailingStore: CacheStore {
    func entry(for key: CacheKey) async throws -> CacheEntry? { throw CacheStoreError("out of order") }
    func store(_ entry: CacheEntry, for key: CacheKey) async throws { throw CacheStoreError("no room") }
    func remove(_ key: CacheKey) async throws { throw CacheStoreError("out of order") }
    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws {
        throw CacheStoreError("out of order")
    }
    func secret() async throws -> Data { Data(count: 32) }
}

/// Blocks operations at gates, by kind and number.
final class StagedStore: CacheStore {
    enum Stage: Hashable { case beforeStore, afterStore, beforeRemove, afterRemove }

    private struct Step: Hashable {
        let stage: Stage
        let number: Int
    }

    private let memory = MemoryStore()
    private let gates = Mutex<[Step: Gate]>([:])
    private let stores = Counter()
    private let removals = Counter()

    /// Blocks the operation with this number, starting at 1, at a gate.
    func hold(_ stage: Stage, _ number: Int) -> Gate {
        let gate = Gate()
        gates.withLock { $0[Step(stage: stage, number: number)] = gate }
        return gate
    }

    private func pass(_ stage: Stage, _ number: Int) async throws {
        try await gates.withLock { $0[Step(stage: stage, number: number)] }?.wait()
    }

    func entry(for key: CacheKey) async throws -> CacheEntry? { await memory.entry(for: key) }
    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        let number = stores.increment()
        try await pass(.beforeStore, number)
        try await memory.store(entry, for: key)
        try await pass(.afterStore, number)
    }
    func remove(_ key: CacheKey) async throws {
        let number = removals.increment()
        try await pass(.beforeRemove, number)
        await memory.remove(key)
        try await pass(.afterRemove, number)
    }
    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws {
        await memory.removeAll(where: matches)
    }
    func secret() async throws -> Data { await memory.secret() }
}

final class UnreliableStore: CacheStore {
    let isFailing = Mutex(false)
    private let memory = MemoryStore()

    private func check() throws { if isFailing.withLock({ $0 }) { throw CacheStoreError("out of order") } }
    func entry(for key: CacheKey) async throws -> CacheEntry? { await memory.entry(for: key) }
    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        try check()
        try await memory.store(entry, for: key)
    }
    func remove(_ key: CacheKey) async throws {
        try check()
        await memory.remove(key)
    }
    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws {
        try check()
        await memory.removeAll(where: matches)
    }
    func secret() async throws -> Data { await memory.secret() }
}

/// Returns each entry with changed bytes in its URL, which make the URL invalid.
final class BadURLStore: CacheStore {
    private let memory = MemoryStore()
    let reads = Counter()

    func entry(for key: CacheKey) async throws -> CacheEntry? {
        guard let entry = await memory.entry(for: key) else { return nil }
        reads.increment()
        var bytes = entry.head.encoded()
        while let range = bytes.firstRange(of: Data("//example".utf8)) {
            bytes.replaceSubrange(range, with: Data("//[xample".utf8))
        }
        return CacheEntryHead(encoded: bytes).map { CacheEntry(head: $0, body: entry.body) }
    }
    func store(_ entry: CacheEntry, for key: CacheKey) async throws { try await memory.store(entry, for: key) }
    func remove(_ key: CacheKey) async throws { await memory.remove(key) }
    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws {
        await memory.removeAll(where: matches)
    }
    func secret() async throws -> Data { await memory.secret() }
}
