import Errand
import ErrandCache
import ErrandEssentials
import Synchronization

extension CacheStoreSuite {
    static let secrets: [Case] = [
        Case(description: "removing entries, one by one or all at once, doesn't change the secret") { store in
            let secret = try await store.secret()
            try await store.store(try entry("a"), for: CacheKey("a"))
            try await store.remove(CacheKey("a"))
            try expect(try await store.secret() == secret, "removing an entry changed the secret")
            try await store.store(try entry("b"), for: CacheKey("b"))
            try await store.removeAll { _ in true }
            try expect(try await store.secret() == secret, "removing all entries changed the secret")
            try expect(try await store.entry(for: CacheKey("b")) == nil, "the entry still exists after its removal")
        },
        Case(description: "concurrent first calls get the same secret") { store in
            let first = try await firstSecret(of: store)
            try expect(try await store.secret() == first, "the secret changed after the first calls")
        },
        Case(description: "the secret can't be guessed") { store in
            try expect(Set(try await store.secret()).count >= 6, "the bytes of the secret are all the same")
        },
    ]

    static func firstSecret(of store: any CacheStore) async throws -> Data {
        let all = try await withThrowingTaskGroup(of: Data.self) { group in
            for _ in 0..<16 { group.addTask { try await store.secret() } }
            return try await group.reduce(into: Set<Data>()) { $0.insert($1) }
        }
        try expect(all.count == 1, "\(all.count) different secrets for 16 calls at the same time")
        return all.first ?? Data()
    }

    static let fidelity: [Case] = [
        Case(description: "each entry keeps its own tags, partition, dates and headers") { store in
            for number in 0..<8 {
                let entry = try entry(
                    "\(number)", path: "\(number)", tags: (0..<number).map { "tag \($0)" },
                    partition: number % 2 == 0 ? "p\(number)" : nil, expires: Double(number))
                try await store.store(entry, for: CacheKey("k\(number)"))
            }
            for number in 0..<8 {
                guard let head = try await store.entry(for: CacheKey("k\(number)"))?.head else {
                    throw missing(CacheKey("k\(number)"))
                }
                try expect(head.tags == (0..<number).map { "tag \($0)" }, "the tags differ from the stored tags")
                try expect(
                    head.partition == (number % 2 == 0 ? "p\(number)" : nil),
                    "the partition differs from the stored partition")
                try expect(
                    head.expires == Date(timeIntervalSince1970: 1_700_000_000 + Double(number)),
                    "the date differs from the stored date")
                try expect(head.url == "https://example.com/\(number)", "the URL differs from the stored URL")
            }
        },
        Case(description: "keys with a common prefix, and canonically equivalent keys, are distinguished") { store in
            let long = "GET https://example.com/" + String(repeating: "x", count: 300)
            let keys = [long, long + "y", long + "\ny", "caf\u{E9}", "cafe\u{301}", "\u{212B}", "\u{C5}"]
            for (number, key) in keys.enumerated() { try await store.store(try entry("\(number)"), for: CacheKey(key)) }
            for (number, key) in keys.enumerated() {
                try await expect("\(number)", at: CacheKey(key), in: store, "key \(number) has another key's body")
            }
            try await store.remove(CacheKey(long))
            try expect(
                try await store.entry(for: CacheKey(long + "y")) != nil, "a longer key was removed with a shorter one")
        },
        Case(description: "a body is returned completely at every length near a power of two") { store in
            for length in [1, 255, 256, 257, 4095, 4096, 4097, 65_535, 65_536, 65_537, 200_001] {
                let bytes = Data((0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7 &+ $0 >> 9) })
                try await store.store(try entry(bytes), for: CacheKey("length"))
                guard let found = try await data(CacheKey("length"), in: store) else {
                    throw missing(CacheKey("length"))
                }
                try expect(found == bytes, "a body of \(length) bytes was returned with different bytes")
            }
        },
        Case(description: "a stream that fails stores no entry") { store in
            let body = HTTPBody(source: Chunks([Data(repeating: 1, count: 70_000)], failing: true))
            do {
                try await store.store(CacheEntry(head: try entry("").head, body: body), for: CacheKey("torn"))
                throw Failure(description: "store(_:for:) didn't throw the error of the entry's body")
            } catch is Chunks.Torn {}
            try expect(
                try await store.entry(for: CacheKey("torn")) == nil,
                "a body that failed before its end was stored as an entry")
        },
        Case(description: "two readers of one entry both read it completely") { store in
            let bytes = Data((0..<100_000).map { UInt8(truncatingIfNeeded: $0) })
            try await store.store(try entry(bytes), for: CacheKey("k"))
            let both = [try await store.entry(for: CacheKey("k")), try await store.entry(for: CacheKey("k"))]
            for found in both {
                guard let found else { throw missing(CacheKey("k")) }
                try expect(try await found.body.collect(upTo: 1 << 20) == bytes, "a reader didn't get the whole body")
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
            try expect(try await store.entry(for: key)?.head == second.head, "the old head was returned")
            try expect(try await text(key, in: store) == "body", "the body differs from the stored body")
            let again = try await store.update(first.head, replacing: first.head, for: key)
            try expect(!again, "a head other than the stored one was replaced")
            try expect(
                try await store.entry(for: key)?.head == second.head,
                "the head was replaced although the old head wasn't stored anymore")
            let long = Data((0..<150_000).map { UInt8(truncatingIfNeeded: $0 &* 3) })
            try await store.store(CacheEntry(head: first.head, body: HTTPBody(long)), for: key)
            for (new, old) in [(second.head, first.head), (first.head, second.head), (second.head, first.head)] {
                let done = try await store.update(new, replacing: old, for: key)
                try expect(done, "the head of a long entry was not replaced")
                try expect(try await store.entry(for: key)?.head == new, "the old head of a long entry was returned")
                try expect(
                    try await data(key, in: store) == long, "the body of a long entry differs from the stored body")
            }
        },
    ]

    static let selections: [Case] = [
        Case(description: "a predicate that matches no entry removes no entry, and receives every head") { store in
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
                try await expect(
                    "\(number)", at: CacheKey("\(number)"), in: store, "an entry was returned with another body")
            }
        },
        Case(description: "after an update, a predicate judges the new head") { store in
            let key = CacheKey("k")
            let (old, new) = (try entry("body", path: "one", tags: ["old"]), try entry("", path: "two", tags: ["new"]))
            for tag in ["new", "old"] {
                try await store.store(old, for: key)
                let done = try await store.update(new.head, replacing: old.head, for: key)
                try expect(done, "the head was not replaced")
                try await store.removeAll { $0.tags.contains(tag) }
                let isThere = try await store.entry(for: key) != nil
                try expect(
                    isThere == (tag == "old"),
                    tag == "old" ? "an entry was removed by its old head" : "an entry wasn't found by its new head")
                try await store.removeAll { $0.url.hasSuffix("/two") }
                try expect(try await store.entry(for: key) == nil, "an entry wasn't found by its new URL")
            }
        },
        Case(description: "a removed entry doesn't come back, even if its body was still being written") { store in
            let key = CacheKey("k")
            for removesAll in [true, false] {
                let chunks = (0..<8).map { Data(repeating: UInt8($0), count: 5_000) }
                let body = HTTPBody(source: Chunks(chunks, failing: false))
                try await store.store(CacheEntry(head: try entry("").head, body: body), for: key)
                if removesAll { try await store.removeAll { _ in true } } else { try await store.remove(key) }
                for _ in 0..<30 {
                    try expect(try await store.entry(for: key) == nil, "the entry exists again after its removal")
                    try await Task.sleep(for: .milliseconds(1))
                }
            }
        },
        Case(description: "a removal also removes an entry whose body is still being read, and no other") { store in
            for way in ["by key", "by tag", "all", "another entry"] {
                for hasOld in [false, true] {
                    let key = CacheKey("\(way) \(hasOld)")
                    if hasOld { try await store.store(try entry("old", tags: ["old", "any"]), for: key) }
                    try await write(HeldBody(), key, in: store) {
                        switch way {
                        case "by key": try await store.remove(key)
                        case "by tag": try await store.removeAll { $0.tags.contains("any") }
                        case "all": try await store.removeAll { _ in true }
                        default: try await store.removeAll { $0.tags.contains("other") }
                        }
                    }
                    let found = try await text(key, in: store)
                    if way == "another entry" {
                        try expect(found == "held back", "an entry is missing after others were removed")
                    } else {
                        try expect(
                            found == nil,
                            "an entry (\(found ?? "")) exists after it was removed (\(way)) while its body was being read: "
                                + "don't keep a write that began before the removal")
                    }
                }
            }
        },
        Case(description: "a removed entry can be stored again") { store in
            let key = CacheKey("k")
            for round in 0..<3 {
                try await store.store(try entry("\(round)"), for: key)
                try await expect("\(round)", at: key, in: store, "the new entry has the old body")
                if round == 1 { try await store.remove(key) } else { try await store.removeAll { _ in true } }
                try expect(try await store.entry(for: key) == nil, "the entry still exists after its removal")
            }
        },
        Case(description: "after concurrent stores and removals, removing all entries empties the store") { store in
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
                try expect(
                    try await store.entry(for: CacheKey("\(number)")) == nil, "an entry still exists after its removal")
            }
        },
    ]

    /// Writes an entry and removes it meanwhile. The removal may wait for the store.
    static func write(
        _ source: HeldBody, _ key: CacheKey, in store: any CacheStore,
        removing remove: @escaping @Sendable () async throws -> Void
    ) async throws {
        let new = CacheEntry(head: try entry("", tags: ["new", "any"]).head, body: HTTPBody(source: source))
        let (written, removed) = (Flag(), Flag())
        try await withThrowingTaskGroup { group in
            group.addTask {
                defer { written.set() }
                try await store.store(new, for: key)
            }
            while !source.isHeld, !written.isSet { try await Task.sleep(for: .milliseconds(1)) }
            group.addTask {
                defer { removed.set() }
                try await remove()
            }
            for _ in 0..<50 where !removed.isSet { try await Task.sleep(for: .milliseconds(1)) }
            source.open()
            try await group.waitForAll()
        }
    }

    /// The cases for stores whose entries persist. `makeStore` must open the same storage each time.
    ///
    /// ```swift
    /// @Test(arguments: CacheStoreSuite.persistentCases) func outlives(_ test: CacheStoreSuite.Case) async throws {
    ///     // A new directory for each case, in which each call of the closure opens the same storage.
    ///     let directory = newDirectory()
    ///     try await test.run { DiskStore(at: directory) }
    /// }
    /// ```
    public static let persistentCases: [Case] =
        [
            Case(
                description: "entries and the secret persist when the store is opened again",
                opening: { make in
                    let (first, bytes) = (
                        try await make(), Data((0..<90_000).map { UInt8(truncatingIfNeeded: $0 &* 5) })
                    )
                    let secret = try await first.secret()
                    try await first.store(try entry(bytes, tags: ["t"], partition: "p"), for: CacheKey("long"))
                    try await first.store(try entry("short"), for: CacheKey("short"))
                    try await first.store(try entry("gone"), for: CacheKey("gone"))
                    try await first.remove(CacheKey("gone"))
                    let second = try await make()
                    try expect(try await second.secret() == secret, "the secret differs from the first one")
                    try expect(
                        try await data(CacheKey("long"), in: second) == bytes,
                        "the entry with a long body is missing or differs")
                    try expect(
                        try await second.entry(for: CacheKey("long"))?.head.tags == ["t"],
                        "the entry's tags are missing")
                    try expect(
                        try await text(CacheKey("short"), in: second) == "short",
                        "the entry with a short body is missing or differs")
                    try expect(try await second.entry(for: CacheKey("gone")) == nil, "a removed entry exists again")
                    try await second.removeAll { $0.tags.contains("t") }
                    try expect(try await make().entry(for: CacheKey("long")) == nil, "a removed entry exists again")
                }),
            Case(
                description: "a secret from concurrent first calls persists",
                opening: { make in
                    let secret = try await firstSecret(of: try await make())
                    try expect(
                        try await firstSecret(of: try await make()) == secret,
                        "the secret differs after the store was opened again")
                }),
        ] + reopenings

    /// The cases for stores with a size limit, which may drop any entry to stay within it. `makeStore` must create a
    /// store with a limit of 1,000,000 bytes.
    ///
    /// ```swift
    /// try await test.run { MemoryStore(limit: .megabytes(1)) }
    /// ```
    public static let limitCases: [Case] = [
        Case(description: "the limit counts bodies, and the last entry is stored") { store in
            for round in 0..<60 {
                try await store.store(try entry(body(40_000, round)), for: CacheKey("body \(round)"))
            }
            var bytes = 0
            for round in 0..<60 { bytes += try await data(CacheKey("body \(round)"), in: store)?.count ?? 0 }
            try expect(bytes <= 1_000_000, "\(bytes) bytes of bodies are stored")
            try expect(
                try await store.entry(for: CacheKey("body 59")) != nil, "the entry that was stored last is missing")
        },
        Case(description: "replaced, removed and failed entries don't count toward the limit") { store in
            let key = CacheKey("changing")
            let ways = [
                "replaced", "removed", "removed with others", "not stored, because their bodies failed",
                "updated", "updated with longer and shorter heads",
            ]
            for way in ways {
                try await store.store(try entry("kept", path: "kept"), for: CacheKey("kept"))
                for round in 0..<60 {
                    if way.hasPrefix("updated"), let old = try await store.entry(for: key)?.head {
                        let tag = String(repeating: "t", count: way == "updated" || round % 2 == 0 ? 10 : 20_000)
                        let new = try entry("", path: "\(round)", tags: [tag]).head
                        _ = try await store.update(new, replacing: old, for: key)
                    } else if way.hasPrefix("not") {
                        let body = HTTPBody(source: Chunks([Data(count: 50_000)], failing: true))
                        try? await store.store(CacheEntry(head: try entry("").head, body: body), for: key)
                    } else {
                        try await store.store(try entry(body(50_000, round)), for: key)
                    }
                    if way == "removed" { try await store.remove(key) }
                    if way == "removed with others" { try await store.removeAll { !$0.url.hasSuffix("kept") } }
                }
                try expect(
                    try await text(CacheKey("kept"), in: store) == "kept",
                    "an entry is gone after sixty entries were \(way), although there was room")
            }
        },
        Case(description: "an entry beyond the limit is not stored") { store in
            try await store.store(try entry("small"), for: CacheKey("small"))
            try? await store.store(try entry(Data(count: 1_100_000)), for: CacheKey("large"))
            try expect(try await store.entry(for: CacheKey("large")) == nil, "the limit was exceeded")
            try await store.store(try entry("next"), for: CacheKey("next"))
            try await expect("next", at: CacheKey("next"), in: store, "a later entry has another body")
        },
    ]

    /// The cases for stores whose limit also covers heads and keys, and that evict the least recently used entry first,
    /// such as ``ErrandCache/MemoryStore`` and ``ErrandCache/DiskStore``. `makeStore` must create a store with a limit
    /// of 1,000,000 bytes.
    public static let evictionCases: [Case] = [
        Case(description: "the limit counts heads and keys") { store in
            let long = String(repeating: "x", count: 20_000)
            for round in 0..<100 {
                try await store.store(try entry("", path: "\(long)\(round)"), for: CacheKey("\(long) \(round)"))
            }
            var bytes = 0
            for round in 0..<100 where try await store.entry(for: CacheKey("\(long) \(round)")) != nil {
                bytes += long.utf8.count
            }
            try expect(bytes <= 1_000_000, "\(bytes) bytes of heads are stored")
        },
        Case(description: "the limit counts the heads after an update") { store in
            func change(to length: Int) async throws {
                for round in 0..<100 {
                    let key = CacheKey("updated \(round)")
                    guard let old = try await store.entry(for: key)?.head else { continue }
                    let tag = String(repeating: "x", count: length)
                    _ = try await store.update(
                        try entry("", path: "\(round)", tags: [tag]).head, replacing: old, for: key)
                }
            }
            func left() async throws -> Int {
                var count = 0
                for round in 0..<100 where try await store.entry(for: CacheKey("updated \(round)")) != nil {
                    count += 1
                }
                return count
            }
            for round in 0..<100 {
                try await store.store(try entry("", path: "\(round)"), for: CacheKey("updated \(round)"))
            }
            try await change(to: 20_000)
            let count = try await left()
            try expect(count * 20_000 <= 1_000_000, "\(count * 20_000) bytes of updated heads are stored")
            try await change(to: 1)
            for round in 0..<20 {
                try await store.store(try entry(body(20_000, round)), for: CacheKey("body \(round)"))
            }
            try expect(
                try await left() == count, "an entry was evicted although updates had made the heads shorter")
        },
        Case(description: "the least recently used entry is evicted first") { store in
            try await store.store(try entry("used"), for: CacheKey("used"))
            try await store.store(try entry("unused"), for: CacheKey("unused"))
            for round in 0..<60 {
                try await store.store(try entry(body(40_000, round)), for: CacheKey("body \(round)"))
                try expect(
                    try await text(CacheKey("used"), in: store) == "used", "an entry that was read recently was evicted"
                )
            }
            try expect(
                try await store.entry(for: CacheKey("unused")) == nil, "the least recently used entry wasn't evicted")
        },
        Case(description: "the entries that were stored last are kept, even if the clock is set back") { store in
            for round in 0..<60 {
                let received = Date(timeIntervalSince1970: 1_700_000_000 - Double(round) * 3_600)
                let new = CacheEntry(
                    head: try head(path: "\(round)", received: received), body: HTTPBody(body(40_000, round)))
                try await store.store(new, for: CacheKey("body \(round)"))
            }
            for round in 50..<60 {
                try expect(
                    try await store.entry(for: CacheKey("body \(round)")) != nil,
                    "one of the ten last entries is missing, because the entries before it have later dates")
            }
        },
        Case(description: "an entry beyond the limit doesn't evict the others") { store in
            try await store.store(try entry("small"), for: CacheKey("small"))
            try? await store.store(try entry(Data(count: 1_100_000)), for: CacheKey("large"))
            try expect(
                try await text(CacheKey("small"), in: store) == "small",
                "another entry was evicted although there was room")
        },
    ]

    /// Bodies differ, because a store may keep equal bodies once.
    private static func body(_ count: Int, _ round: Int) -> Data { Data(repeating: UInt8(round), count: count) }
}

/// A body whose second chunk waits until the test opens the body.
final class HeldBody: HTTPBodySource {
    private struct State {
        var count = 0
        var isOpen = false
        var waiter: CheckedContinuation<Void, Never>?
    }

    private let state = Mutex(State())

    var isHeld: Bool { state.withLock { $0.waiter != nil } }

    func open() {
        let waiter = state.withLock { state in
            state.isOpen = true
            defer { state.waiter = nil }
            return state.waiter
        }
        waiter?.resume()
    }

    func nextChunk() async throws -> Data? {
        let count = state.withLock { state in
            state.count += 1
            return state.count
        }
        if count == 1 { return Data("held ".utf8) }
        if count > 2 { return nil }
        await withCheckedContinuation { waiter in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiter = waiter }
                return state.isOpen
            }
            if isOpen { waiter.resume() }
        }
        return Data("back".utf8)
    }

    func cancel() { open() }
}

final class Flag: Sendable {
    private let value = Atomic(false)

    var isSet: Bool { value.load(ordering: .acquiring) }

    func set() { value.store(true, ordering: .releasing) }
}

final class Seen: Sendable {
    private let state = Mutex<Set<String>>([])
    var urls: [String] { state.withLock { $0.sorted() } }
    func add(_ url: String) { state.withLock { _ = $0.insert(url) } }
}
