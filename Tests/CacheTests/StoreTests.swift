import Errand
import ErrandCache
import ErrandCacheTesting
import Foundation
import Testing

@Suite("Stores", .endsInTime, .leakChecked)
struct StoreTests {
    private static let cases =
        LawBudget.factor == 1 ? CacheStoreSuite.cases : CacheStoreSuite.laws(rounds: 60 * LawBudget.factor)

    @Test("the memory store conforms", arguments: cases)
    func memory(_ test: CacheStoreSuite.Case) async throws { try await test.run { MemoryStore() } }

    @Test("the disk store conforms", arguments: cases)
    func disk(_ test: CacheStoreSuite.Case) async throws {
        let directory = TemporaryDirectory()
        try await test.run { DiskStore(at: directory.url) }
    }

    @Test("the sealed disk store conforms", arguments: cases)
    func sealed(_ test: CacheStoreSuite.Case) async throws {
        let directory = TemporaryDirectory()
        let flip = DiskStore.Seal {
            Data($0.map { $0 ^ 0x5A } + [1, 2, 3])
        } open: { data in
            guard data.suffix(3) == Data([1, 2, 3]) else { throw CacheStoreError("not sealed") }
            return Data(data.dropLast(3).map { $0 ^ 0x5A })
        }
        try await test.run { DiskStore(at: directory.url, seal: flip) }
    }

    @Test("a tiered store conforms", arguments: cases)
    func tiers(_ test: CacheStoreSuite.Case) async throws {
        let directory = TemporaryDirectory()
        try await test.run { TieredStore(MemoryStore(), DiskStore(at: directory.url)) }
    }

    private func entry(_ count: Int) throws -> CacheEntry {
        let url = try #require(URL(string: "https://example.com/"))
        return CacheEntry(
            head: CacheEntryHead(url: url, received: .now, expires: .now), body: HTTPBody(Data(count: count)))
    }

    @Test("the memory store keeps its limits, and the least recently used entry goes first")
    func memoryLimits() async throws {
        let store = MemoryStore(limit: .bytes(100_000).entries(10))
        for number in 0..<10 { try await store.store(entry(100), for: CacheKey("\(number)")) }
        _ = await store.entry(for: CacheKey("0"))
        for number in 10..<14 { try await store.store(entry(100), for: CacheKey("\(number)")) }
        #expect(store.entryCount == 10)
        #expect(await store.entry(for: CacheKey("0")) != nil)
        for number in 1...4 { #expect(await store.entry(for: CacheKey("\(number)")) == nil) }
        for number in 0..<20 {
            try await store.store(entry(20_000), for: CacheKey("large \(number)"))
            #expect(store.byteCount <= 100_000)
        }
        #expect(store.entryCount == 4)
        await #expect(throws: (any Error).self) { try await store.store(entry(25_001), for: CacheKey("x")) }
        await store.removeAll { _ in true }
        #expect(store.byteCount == 0 && store.entryCount == 0)
    }

    @Test("a store keeps entries up to the limit of one entry, and names the limit if an entry is larger")
    func entryLimit() async throws {
        let directory = TemporaryDirectory()
        let limit = CacheLimit.bytes(100_000).maximumEntryBytes(60_000).entries(10)
        #expect(CacheLimit.bytes(100_000).maximumEntryBytes == 25_000 && limit.maximumEntryBytes == 60_000)
        #expect(limit.maximumEntryBytes(200_000).maximumEntryBytes == 100_000)
        for store: any CacheStore in [MemoryStore(limit: limit), DiskStore(at: directory.url, limit: limit)] {
            for (size, isTooLarge) in [(50_000, false), (60_000, true)] {
                for isStream in [false, true] {
                    var entry = try entry(size)
                    let chunks = BodyChunks(entry.body)
                    if isStream { entry.body = HTTPBody { try await chunks.next() } }
                    var failure: CacheStoreError?
                    do { try await store.store(entry, for: CacheKey("a")) } catch {
                        failure = error as? CacheStoreError
                    }
                    let sentence = "the entry is larger than the store's limit for one entry, 60000 bytes"
                    #expect(failure?.description == (isTooLarge ? sentence : nil))
                    #expect(try await store.entry(for: CacheKey("a"))?.body.length == 50_000)
                }
            }
        }
    }

    @Test("an entry that is read from a lower tier is copied up, and isn't returned after it was replaced")
    func copies() async throws {
        let directory = TemporaryDirectory()
        let (memory, disk) = (MemoryStore(), DiskStore(at: directory.url))
        try await disk.store(entry(5), for: CacheKey("a"))
        let tiers = TieredStore(memory, disk)
        #expect(try await tiers.entry(for: CacheKey("a"))?.body.length == 5)
        #expect(await memory.entry(for: CacheKey("a"))?.body.length == 5)
        try await tiers.store(entry(6), for: CacheKey("a"))
        #expect(try await tiers.entry(for: CacheKey("a"))?.body.length == 6)
        #expect(try await disk.entry(for: CacheKey("a"))?.body.length == 6)
        try await tiers.remove(CacheKey("a"))
        #expect(try await tiers.entry(for: CacheKey("a")) == nil)
    }

    @Test(
        "tiers that several tasks change concurrently have the same entries, or the first tier is empty",
        arguments: 0..<30)
    func tiersAgree(seed: Int) async throws {
        let noise = SharedGenerator(seed: UInt64(seed + 1))
        let (first, second) = (MemoryStore(), MemoryStore())
        let tiers = TieredStore(SlowStore(first, noise), SlowStore(second, noise))
        let keys = [CacheKey("a"), CacheKey("b")]
        @Sendable func entry() throws -> CacheEntry {
            let url = try #require(URL(string: "https://example.com/\(noise.below(1_000_000))"))
            let head = CacheEntryHead(url: url, received: .now, expires: .now, tags: ["\(noise.below(2))"])
            return CacheEntry(head: head, body: HTTPBody(Data(url.path.utf8)))
        }
        for _ in 0..<20 {
            try await withThrowingTaskGroup { group in
                for _ in 0..<4 {
                    group.addTask {
                        for _ in 0..<3 {
                            let key = keys[noise.below(2)]
                            switch noise.below(10) {
                            case 0...3: try await tiers.store(entry(), for: key)
                            case 4: try await tiers.remove(key)
                            case 5: try await tiers.removeAll { $0.tags == ["1"] }
                            case 6:
                                guard let old = try await tiers.entry(for: key) else { continue }
                                _ = try await tiers.update(entry().head, replacing: old.head, for: key)
                            default: _ = try await tiers.entry(for: key)
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
            for key in keys {
                let (above, below) = (await first.entry(for: key), await second.entry(for: key))
                #expect(above == nil || above?.head == below?.head && above?.body.data == below?.body.data)
            }
        }
        // With a single task, both stores end up with the entry.
        try await tiers.store(entry(), for: keys[0])
        #expect(await first.entry(for: keys[0])?.head == second.entry(for: keys[0])?.head)
    }

    @Test(
        "a head is decoded unchanged, and a truncated or modified head is refused or decodes to another, without a crash"
    )
    func heads() throws {
        let url = try #require(URL(string: "https://example.com/ü?a=1"))
        let head = CacheEntryHead(
            url: url, headers: ["A": "1", "Ü": "ü"], received: Date(timeIntervalSince1970: 1.5),
            expires: .distantFuture,
            tags: ["a", ""], partition: "p")
        let bytes = head.encoded()
        #expect(CacheEntryHead(encoded: bytes) == head)
        #expect(CacheEntryHead(encoded: Data([0, 0]) + bytes) == nil)
        for length in 0..<bytes.count { #expect(CacheEntryHead(encoded: bytes.prefix(length)) == nil) }
        for index in bytes.indices {
            for value: UInt8 in [0, 1, 0x7F, 0xFF] {
                var copy = bytes
                copy[index] = value
                _ = CacheEntryHead(encoded: copy)
            }
        }
    }
}
