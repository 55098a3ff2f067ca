import Errand
import ErrandCache
import ErrandEssentials
import Synchronization

extension CacheStoreSuite {
    static let secrets: [Case] = [
        Case(description: "the secret outlives the removal of every entry, one by one and all at once") { store in
            let secret = try await store.secret()
            try await store.store(try entry("a"), for: CacheKey("a"))
            try await store.remove(CacheKey("a"))
            try expect(try await store.secret() == secret, "removing an entry changed the secret")
            try await store.store(try entry("b"), for: CacheKey("b"))
            try await store.removeAll { _ in true }
            try expect(try await store.secret() == secret, "removing all entries changed the secret")
            try expect(try await store.entry(for: CacheKey("b")) == nil, "the entry is still there")
        },
        Case(description: "the secret cannot be guessed") { store in
            try expect(Set(try await store.secret()).count >= 6, "the bytes of the secret are all the same")
        },
    ]

    static let fidelity: [Case] = [
        Case(description: "tags, partition, dates and headers of each entry are its own") { store in
            for number in 0..<8 {
                let entry = try entry(
                    "\(number)", path: "\(number)", tags: (0..<number).map { "tag \($0)" },
                    partition: number % 2 == 0 ? "p\(number)" : nil, expires: Double(number))
                try await store.store(entry, for: CacheKey("k\(number)"))
            }
            for number in 0..<8 {
                let head = try await store.entry(for: CacheKey("k\(number)"))?.head
                try expect(head?.tags == (0..<number).map { "tag \($0)" }, "the tags are others")
                try expect(head?.partition == (number % 2 == 0 ? "p\(number)" : nil), "the partition is another")
                try expect(
                    head?.expires == Date(timeIntervalSince1970: 1_700_000_000 + Double(number)), "the date is another")
                try expect(head?.url == "https://example.com/\(number)", "the URL is another")
            }
        },
        Case(description: "keys with a common prefix, and canonically equivalent keys, are distinguished") { store in
            let long = "GET https://example.com/" + String(repeating: "x", count: 300)
            let keys = [long, long + "y", long + "\ny", "caf\u{E9}", "cafe\u{301}", "\u{212B}", "\u{C5}"]
            for (number, key) in keys.enumerated() { try await store.store(try entry("\(number)"), for: CacheKey(key)) }
            for (number, key) in keys.enumerated() {
                try expect(try await text(CacheKey(key), in: store) == "\(number)", "key \(number) has another's body")
            }
            try await store.remove(CacheKey(long))
            try expect(
                try await store.entry(for: CacheKey(long + "y")) != nil, "a longer key was removed with a shorter one")
        },
        Case(description: "a body is returned completely at every length near a power of two") { store in
            for length in [1, 255, 256, 257, 4095, 4096, 4097, 65_535, 65_536, 65_537, 200_001] {
                let bytes = Data((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) })
                try await store.store(try entry(bytes), for: CacheKey("length"))
                try expect(
                    try await data(CacheKey("length"), in: store) == bytes, "\(length) bytes are returned changed")
            }
        },
        Case(description: "a stream that fails stores no entry") { store in
            let body = HTTPBody(source: Chunks([Data(repeating: 1, count: 70_000)], failing: true))
            do {
                try await store.store(CacheEntry(head: try entry("").head, body: body), for: CacheKey("torn"))
                throw Failure(description: "the failure of the body was not thrown")
            } catch is Chunks.Torn {}
            try expect(try await store.entry(for: CacheKey("torn")) == nil, "an incomplete body is an entry")
        },
        Case(description: "two readers of one entry both read it completely") { store in
            let bytes = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
            try await store.store(try entry(bytes), for: CacheKey("k"))
            let both = [try await store.entry(for: CacheKey("k")), try await store.entry(for: CacheKey("k"))]
            for found in both {
                try expect(try await found?.body.collect(upTo: 1 << 20) == bytes, "a reader did not read all of it")
            }
        },
        Case(description: "a head is replaced without its body, and only if the old one is still stored") { store in
            let key = CacheKey("k")
            let (first, second) = (try entry("body", path: "one"), try entry("", path: "two", tags: ["new"]))
            let absent = try await store.update(second.head, replacing: first.head, for: key)
            try expect(!absent, "a head was replaced without an entry")
            try expect(try await store.entry(for: key) == nil, "an entry exists that was never stored")
            try await store.store(first, for: key)
            let done = try await store.update(second.head, replacing: first.head, for: key)
            try expect(done, "the head was not replaced")
            try expect(try await store.entry(for: key)?.head == second.head, "the head is the old one")
            try expect(try await text(key, in: store) == "body", "the body is another")
            let again = try await store.update(first.head, replacing: first.head, for: key)
            try expect(!again, "a head was replaced that was not the stored one")
            try expect(try await store.entry(for: key)?.head == second.head, "the head changed nevertheless")
            let long = Data((0..<150_000).map { UInt8(truncatingIfNeeded: $0 &* 3) })
            try await store.store(CacheEntry(head: first.head, body: HTTPBody(long)), for: key)
            for (new, old) in [(second.head, first.head), (first.head, second.head), (second.head, first.head)] {
                let done = try await store.update(new, replacing: old, for: key)
                try expect(done, "the head of a long entry was not replaced")
                try expect(try await store.entry(for: key)?.head == new, "the head of a long entry is the old one")
                try expect(try await data(key, in: store) == long, "the body of a long entry is another")
            }
        },
    ]

    static let selections: [Case] = [
        Case(description: "a predicate that matches nothing removes nothing, and receives every head") { store in
            for number in 0..<10 {
                try await store.store(try entry("\(number)", path: "\(number)"), for: CacheKey("\(number)"))
            }
            let seen = Seen()
            try await store.removeAll { head in
                seen.add(head.url)
                return false
            }
            try expect(
                seen.urls == (0..<10).map { "https://example.com/\($0)" }, "the predicate did not receive every head")
            for number in 0..<10 {
                try expect(try await text(CacheKey("\(number)"), in: store) == "\(number)", "an entry is gone")
            }
        },
        Case(description: "a removed entry can be stored again") { store in
            let key = CacheKey("k")
            for round in 0..<3 {
                try await store.store(try entry("\(round)"), for: key)
                try expect(try await text(key, in: store) == "\(round)", "the new entry is not there")
                if round == 1 { try await store.remove(key) } else { try await store.removeAll { _ in true } }
                try expect(try await store.entry(for: key) == nil, "the entry is still there")
            }
        },
        Case(description: "concurrent stores and removals leave nothing after a removal of all") { store in
            try await withThrowingTaskGroup { group in
                for task in 0..<32 {
                    group.addTask {
                        let key = CacheKey("\(task % 8)")
                        try await store.store(try entry("\(task)"), for: key)
                        try await store.remove(key)
                    }
                }
                try await group.waitForAll()
            }
            try await store.removeAll { _ in true }
            for number in 0..<8 {
                try expect(try await store.entry(for: CacheKey("\(number)")) == nil, "an entry is still there")
            }
        },
    ]

    /// The cases for stores whose entries persist. `makeStore` must open the same storage each time.
    ///
    /// ```swift
    /// @Test(arguments: CacheStoreSuite.persistentCases) func outlives(_ test: CacheStoreSuite.Case) async throws {
    ///     let directory = newDirectory()
    ///     try await test.run { DiskStore(at: directory) }
    /// }
    /// ```
    public static let persistentCases: [Case] = [
        Case(
            description: "entries and the secret persist when the store is opened again",
            opening: { make in
                let (first, bytes) = (try await make(), Data((0..<90_000).map { UInt8(truncatingIfNeeded: $0 &* 5) }))
                let secret = try await first.secret()
                try await first.store(try entry(bytes, tags: ["t"], partition: "p"), for: CacheKey("long"))
                try await first.store(try entry("short"), for: CacheKey("short"))
                try await first.store(try entry("gone"), for: CacheKey("gone"))
                try await first.remove(CacheKey("gone"))
                let second = try await make()
                try expect(try await second.secret() == secret, "the secret is another")
                try expect(try await data(CacheKey("long"), in: second) == bytes, "a long entry is lost or another")
                try expect(try await second.entry(for: CacheKey("long"))?.head.tags == ["t"], "the tags are lost")
                try expect(try await text(CacheKey("short"), in: second) == "short", "a short entry is lost or another")
                try expect(try await second.entry(for: CacheKey("gone")) == nil, "a removed entry came back")
                try await second.removeAll { $0.tags.contains("t") }
                try expect(try await make().entry(for: CacheKey("long")) == nil, "a removed entry came back")
            })
    ]

    /// The cases for stores with a size limit. `makeStore` must create a store with a limit of 1,000,000 bytes.
    ///
    /// ```swift
    /// try await test.run { MemoryStore(limit: .megabytes(1)) }
    /// ```
    public static let limitCases: [Case] = [
        Case(description: "the limit covers bodies, heads and keys; the last entry is stored") { store in
            for round in 0..<60 {
                try await store.store(try entry(Data(count: 40_000)), for: CacheKey("body \(round)"))
            }
            var bytes = 0
            for round in 0..<60 { bytes += try await data(CacheKey("body \(round)"), in: store)?.count ?? 0 }
            try expect(bytes <= 1_000_000, "\(bytes) bytes of bodies are stored")
            try expect(try await store.entry(for: CacheKey("body 59")) != nil, "the last entry is gone")
            let long = String(repeating: "x", count: 20_000)
            for round in 0..<100 {
                try await store.store(try entry("", path: "\(long)\(round)"), for: CacheKey("\(long) \(round)"))
            }
            bytes = 0
            for round in 0..<100 where try await store.entry(for: CacheKey("\(long) \(round)")) != nil {
                bytes += long.utf8.count
            }
            try expect(bytes <= 1_000_000, "\(bytes) bytes of heads are stored")
        },
        Case(description: "the least recently used entry is evicted first") { store in
            try await store.store(try entry("used"), for: CacheKey("used"))
            try await store.store(try entry("unused"), for: CacheKey("unused"))
            for round in 0..<60 {
                try await store.store(try entry(Data(count: 40_000)), for: CacheKey("body \(round)"))
                try expect(try await text(CacheKey("used"), in: store) == "used", "an entry in use is gone")
            }
            try expect(
                try await store.entry(for: CacheKey("unused")) == nil, "an entry that was not used is still there")
        },
        Case(description: "an entry beyond the limit is not stored, and the others stay") { store in
            try await store.store(try entry("small"), for: CacheKey("small"))
            try? await store.store(try entry(Data(count: 1_100_000)), for: CacheKey("large"))
            try expect(try await store.entry(for: CacheKey("large")) == nil, "the limit was exceeded")
            try expect(try await text(CacheKey("small"), in: store) == "small", "another entry was evicted for nothing")
        },
    ]
}

/// Collects the URLs of the heads that a predicate receives.
private final class Seen: Sendable {
    private let state = Mutex<Set<String>>([])
    var urls: [String] { state.withLock { $0.sorted() } }
    func add(_ url: String) { state.withLock { _ = $0.insert(url) } }
}
