import Errand
import ErrandCache
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// Shows the harm that each store of the catalogue does, without the suite.
@Suite("Mistakes in stores do harm", .endsInTime)
struct UnseenStoreHarmTests {
    private func entry(_ text: String, tag: String = "") throws -> CacheEntry {
        let url = try #require(URL(string: "https://example.com/a"))
        let head = CacheEntryHead(url: url, received: Date(), expires: Date() + 60, tags: [tag])
        return CacheEntry(head: head, body: HTTPBody(Data(text.utf8)))
    }

    @Test("two keys that look alike share an entry")
    func keys() async throws {
        let store = TextKeyStore()
        try await store.store(try entry("one"), for: CacheKey("caf\u{e9}"))
        let other = try await store.entry(for: CacheKey("cafe\u{301}"))
        #expect(other?.body.data == Data("one".utf8))
    }

    @Test("removing other entries makes an entry useless")
    func secret() async throws {
        let store = NewSecretStore()
        try await store.store(try entry("one", tag: "kept"), for: CacheKey("a"))
        let before = try await store.secret()
        try await store.removeAll { $0.tags == ["other"] }
        #expect(try await store.entry(for: CacheKey("a")) != nil)
        #expect(try await store.secret() != before)
    }

    @Test("a reader gets the entry that was replaced before it asked")
    func reads() async throws {
        let gate = Gate()
        let store = SharedReadStore(pause: { try? await gate.wait() })
        try await store.store(try entry("old"), for: CacheKey("a"))
        async let first = store.entry(for: CacheKey("a"))
        try await gate.reached()
        try await store.store(try entry("new"), for: CacheKey("a"))
        async let second = store.entry(for: CacheKey("a"))
        gate.open()
        _ = try await first
        #expect(try await second?.body.data == Data("old".utf8))
    }

    @Test("a reader gets the end of another body")
    func files() async throws {
        let store = try OverwritingStore()
        try await store.store(try entry(String(repeating: "a", count: 10)), for: CacheKey("a"))
        let old = try await store.entry(for: CacheKey("a"))
        try await store.store(try entry(String(repeating: "b", count: 10)), for: CacheKey("a"))
        #expect(try await old?.body.collect(upTo: 100) == Data(repeating: UInt8(ascii: "b"), count: 10))
    }

    @Test("entries without a body are kept without a limit")
    func limit() async throws {
        let store = BodyLimitStore()
        for number in 0..<5_000 { try await store.store(try entry(""), for: CacheKey("\(number)")) }
        #expect(store.entries.withLock { $0.count } == 5_000)
    }

    @Test("stores at the same time go past the limit")
    func drift() async throws {
        let store = DriftingStore()
        let gate = Gate()
        try await withThrowingTaskGroup { group in
            for number in 0..<10 {
                let head = try entry("").head
                group.addTask {
                    let body = HTTPBody {
                        if gate.isOpen { return nil }
                        try await gate.wait()
                        return Data(count: 200_000)
                    }
                    try await store.store(CacheEntry(head: head, body: body), for: CacheKey("\(number)"))
                }
            }
            try await gate.reached(by: 10)
            gate.open()
            try await group.waitForAll()
        }
        #expect(await store.keptBytes > 1_500_000)
    }
}
