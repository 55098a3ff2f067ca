import Errand
import ErrandTesting
import Foundation
import Testing

@testable import ErrandCache

@Suite("Stores that are read without a wait", .leakChecked)
struct ImmediateStoreTests {
    private let key = CacheKey("a")

    private func entry(_ text: String = "1") throws -> CacheEntry {
        let url = try #require(URL(string: "https://example.com/a"))
        return CacheEntry(
            head: CacheEntryHead(url: url, received: .now, expires: .now), body: HTTPBody(Data(text.utf8)))
    }

    /// The body of the known entry, "none" if the entry is known to be absent, or nil if only a read can tell.
    private func known(_ store: any ImmediateStore) -> String? {
        switch store.entryAtOnce(for: key) {
        case .entry(let entry): String(decoding: entry.body.data ?? Data(), as: UTF8.self)
        case .nothing: "none"
        case .unknown: nil
        }
    }

    @Test("memory knows all entries immediately")
    func memory() async throws {
        let store = MemoryStore()
        #expect(known(store) == "none")
        try await store.store(entry(), for: key)
        #expect(known(store) == "1")
        await store.remove(key)
        #expect(known(store) == "none")
    }

    @Test("tiers find entries of the unchanged first store immediately, and read all other entries")
    func tiers() async throws {
        let (first, second) = (MemoryStore(), HeldStore())
        let tiers = TieredStore(first, second)
        #expect(known(tiers) == nil)
        second.release()
        try await second.store(entry(), for: key)
        #expect(known(tiers) == nil)
        _ = try await tiers.entry(for: key)
        #expect(known(tiers) == "1")
        try await tiers.remove(key)
        #expect(known(tiers) == nil)
        #expect(known(TieredStore(HeldStore(), MemoryStore())) == nil)
    }

    @Test("after an update that failed halfway, the first store's head isn't older than the second's")
    func failedUpdate() async throws {
        final class Late: CacheStore {
            let store = MemoryStore()
            func entry(for key: CacheKey) async throws -> CacheEntry? { await store.entry(for: key) }
            func store(_ entry: CacheEntry, for key: CacheKey) async throws { try await store.store(entry, for: key) }
            func update(
                _ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey
            ) async throws -> Bool {
                _ = try await store.update(head, replacing: old, for: key)
                throw CancellationError()
            }
            func remove(_ key: CacheKey) async throws { await store.remove(key) }
            func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws {
                await store.removeAll(where: matches)
            }
            func secret() async throws -> Data { await store.secret() }
        }
        let tiers = TieredStore(MemoryStore(), Late())
        let old = try entry()
        try await tiers.store(old, for: key)
        var head = old.head
        head.change { $0.expires += 60 }
        await #expect(throws: CancellationError.self) { try await tiers.update(head, replacing: old.head, for: key) }
        #expect(try await tiers.entry(for: key)?.head.expires == head.expires)
    }

    @Test("while the second store is still writing, tiers don't serve the first store's old copy")
    func changing() async throws {
        let (first, second) = (MemoryStore(), StagedStore())
        let (tiers, gate) = (TieredStore(first, second), second.hold(.beforeStore, 1))
        let change = Task { try await tiers.store(entry("2"), for: key) }
        try await gate.reached()
        // The state that a concurrent read would leave after it has copied the entry.
        try await first.store(entry("1"), for: key)
        #expect(known(tiers) == nil)
        gate.open()
        try await change.value
        #expect(known(tiers) == "2")
    }
}
