import Errand
import ErrandCache
import ErrandTesting
import Foundation
import Testing

@Suite("Removals stop the writes that are still reading a body", .endsInTime, .leakChecked)
struct InFlightWriteTests {
    enum Kind: CaseIterable { case memory, disk, tiers }
    enum Removal: CaseIterable { case key, otherKey, tag, otherTag }

    private let directory = TemporaryDirectory()

    private func store(_ kind: Kind) -> any CacheStore {
        switch kind {
        case .memory: MemoryStore()
        case .disk: DiskStore(at: directory.url)
        case .tiers: TieredStore(MemoryStore(), DiskStore(at: directory.url))
        }
    }

    private func entry(_ tag: String, _ body: HTTPBody) throws -> CacheEntry {
        let url = try #require(URL(string: "https://example.com/"))
        return CacheEntry(head: CacheEntryHead(url: url, received: .now, expires: .now, tags: [tag]), body: body)
    }

    private func remove(_ removal: Removal, from store: any CacheStore) async throws {
        switch removal {
        case .key: try await store.remove(CacheKey("a"))
        case .otherKey: try await store.remove(CacheKey("b"))
        case .tag: try await store.removeAll { $0.tags.contains("t") }
        case .otherTag: try await store.removeAll { $0.tags.contains("u") }
        }
    }

    @Test(
        "an entry that is removed while its body arrives isn't added; other entries are, and so is a later one",
        arguments: Kind.allCases, Removal.allCases)
    func removed(kind: Kind, removal: Removal) async throws {
        let (store, gate) = (store(kind), Gate())
        let slow = HTTPBody {
            // The first piece is short enough to stay in memory.
            if gate.arrivals > 0 { return nil }
            try await gate.wait()
            return Data("slow".utf8)
        }
        let entry = try entry("t", slow)
        let write = Task { try await store.store(entry, for: CacheKey("a")) }
        try await gate.reached()
        try await remove(removal, from: store)
        gate.open()
        try await write.value
        let isRemoved = removal == .key || removal == .tag
        #expect(try await (store.entry(for: CacheKey("a")) == nil) == isRemoved)
        try await store.store(self.entry("t", HTTPBody(Data("late".utf8))), for: CacheKey("a"))
        #expect(try await store.entry(for: CacheKey("a"))?.body.collect(upTo: 9) == Data("late".utf8))
    }
}
