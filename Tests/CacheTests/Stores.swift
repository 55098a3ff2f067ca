import ErrandCache
import ErrandTesting
import Foundation
import Synchronization

/// Writes nothing until it is released.
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

/// Fails at everything but its secret.
final class FailingStore: CacheStore {
    func entry(for key: CacheKey) async throws -> CacheEntry? { throw CacheStoreError("out of order") }
    func store(_ entry: CacheEntry, for key: CacheKey) async throws { throw CacheStoreError("no room") }
    func remove(_ key: CacheKey) async throws { throw CacheStoreError("out of order") }
    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws {
        throw CacheStoreError("out of order")
    }
    func secret() async throws -> Data { Data(count: 32) }
}
