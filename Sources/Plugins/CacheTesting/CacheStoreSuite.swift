public import Errand
public import ErrandCache
import ErrandEssentials
import Synchronization

/// A conformance suite for a ``CacheStore``, as a list of cases for any test framework.
///
/// ```swift
/// @Test(arguments: CacheStoreSuite.cases) func conforms(_ test: CacheStoreSuite.Case) async throws {
///     try await test.run { MyStore() }
/// }
/// ```
///
/// Each case creates its own store. The new store must be empty, and keep at least 1 MB and 100 entries, including
/// expired entries. For a store that drops entries earlier, use ``droppingCases``.
///
/// Six cases run random operations. Four of them compare the results with a dictionary. The others look for keys that
/// the store confuses, and for reads that find a replaced entry.
public enum CacheStoreSuite {
    /// A test of one requirement.
    public struct Case: Sendable, CustomStringConvertible {
        /// The requirement, as a sentence.
        public let description: String
        private let body: @Sendable (Maker) async throws -> Void

        typealias Maker = () async throws -> any CacheStore

        init(description: String, body: @escaping @Sendable (any CacheStore) async throws -> Void) {
            self.init(description: description, opening: { make in try await body(try await make()) })
        }

        init(description: String, opening body: @escaping @Sendable (Maker) async throws -> Void) {
            self.description = description
            self.body = body
        }

        /// The same test for a store that may drop any entry at any time.
        var dropping: Case {
            Case(description: description) { make in
                try await self.run { KeepingStore(try await make()) }
            }
        }

        /// Runs the test. Throws ``Failure`` if the store doesn't meet the requirement. Rethrows the store's errors. A
        /// law throws them as a ``Failure`` that names the law and the operation.
        public func run(_ makeStore: () async throws -> any CacheStore) async throws { try await body(makeStore) }
    }

    /// The store doesn't meet a requirement.
    public struct Failure: DescribedError, Sendable {
        /// How the store violates the requirement, as a sentence.
        public let description: String
        /// The code of the `NSError`. Always 1.
        public var errorCode: Int { 1 }
        /// The domain of the `NSError`: "Errand.CacheStoreSuite.Failure".
        public static var errorDomain: String { "Errand.CacheStoreSuite.Failure" }
    }

    /// The cases for every store. See also ``persistentCases``, ``isolationCases``, ``limitCases``, and
    /// ``evictionCases``.
    public static let cases: [Case] =
        [capacity] + basics + fidelity + secrets + removals + selections + concurrency + company + openings + laws()

    /// The cases for a store that may drop any entry at any time, for example because it's small.
    public static let droppingCases: [Case] =
        (basics + fidelity + secrets + removals + selections + concurrency + company).map(\.dropping)
        + openings + laws(droppingEntries: true)

    static func expect(_ condition: Bool, _ what: String) throws {
        if !condition { throw Failure(description: what) }
    }

    static func entry(
        _ text: String, path: String = "a", tags: [String] = [], partition: String? = nil, expires: Double = 60
    ) throws -> CacheEntry {
        try entry(Data(text.utf8), path: path, tags: tags, partition: partition, expires: expires)
    }

    static func entry(
        _ data: Data, path: String = "a", tags: [String] = [], partition: String? = nil, expires: Double = 60
    ) throws -> CacheEntry {
        guard let url = URL(string: "https://example.com/\(path)") else { throw Failure(description: "a bad path") }
        let date = Date(timeIntervalSince1970: 1_700_000_000)
        return CacheEntry(
            head: CacheEntryHead(
                url: url, headers: [.contentType: "text/plain", .entityTag: "\"\(path)\""], received: date,
                expires: date + expires, tags: tags, partition: partition), body: HTTPBody(data))
    }

    static func head(
        path: String = "a", headers: HTTPHeaders = [:],
        received: Date = Date(timeIntervalSince1970: 1_700_000_000), tags: [String] = [], partition: String? = nil
    ) throws -> CacheEntryHead {
        guard let url = URL(string: "https://example.com/\(path)") else { throw Failure(description: "a bad path") }
        return CacheEntryHead(
            url: url, headers: headers, received: received, expires: Date(timeIntervalSince1970: 1_700_000_060),
            tags: tags, partition: partition)
    }

    static func expect(
        _ expected: String, at key: CacheKey, in store: any CacheStore, _ what: @autoclosure () -> String
    ) async throws {
        guard let found = try await text(key, in: store) else { throw missing(key) }
        try expect(found == expected, what())
    }

    static func missing(_ key: CacheKey) -> Failure {
        Failure(description: "the entry of the key \(String(key.text.prefix(60)).debugDescription) is missing")
    }

    /// The case that tells which list of cases a store needs. Other cases only name the entry that is missing.
    private static let capacity = Case(
        description: "the store keeps 100 entries with 1 MB, also after they have expired"
    ) { store in
        let body = Data(repeating: 7, count: 10_000)
        for number in 0..<100 {
            try await store.store(try entry(body, path: "\(number)", expires: -60), for: CacheKey("kept \(number)"))
        }
        var missing = 0
        for number in 0..<100 where try await store.entry(for: CacheKey("kept \(number)")) == nil { missing += 1 }
        try expect(
            missing == 0,
            "\(missing) of 100 entries with 10,000 bytes each are missing: if your store may drop entries earlier, use "
                + "CacheStoreSuite.droppingCases, and droppingIsolationCases instead of isolationCases")
    }

    static func data(_ key: CacheKey, in store: any CacheStore) async throws -> Data? {
        try await store.entry(for: key)?.body.collect(upTo: 1 << 24)
    }

    static func text(_ key: CacheKey, in store: any CacheStore) async throws -> String? {
        try await data(key, in: store).map { String(decoding: $0, as: UTF8.self) }
    }
}

extension CacheStoreSuite {
    static let basics: [Case] = [
        Case(description: "an empty store has no entry") { store in
            try expect(try await store.entry(for: CacheKey("nothing")) == nil, "an entry exists that was never stored")
        },
        Case(description: "an entry is returned with its head and its bytes") { store in
            let key = CacheKey("GET https://example.com/a?b=1\nline two, ünïcode \0 and /../ slashes")
            let entry = try entry("hello", tags: ["t", "ü"], partition: "p")
            try await store.store(entry, for: key)
            guard let found = try await store.entry(for: key) else { throw missing(key) }
            try expect(found.head == entry.head, "the head differs from the stored head")
            try await expect("hello", at: key, in: store, "the bytes differ from the stored bytes")
            try await expect("hello", at: key, in: store, "the second read returned a different entry")
        },
        Case(description: "an entry with an empty body is stored") { store in
            try await store.store(try entry(""), for: CacheKey("empty"))
            try expect(
                try await data(CacheKey("empty"), in: store) == Data(), "the entry is missing, or its body isn't empty")
        },
        Case(description: "a body can contain any bytes") { store in
            let bytes = Data((0..<65_536).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) })
            try await store.store(try entry(bytes), for: CacheKey("bytes"))
            guard let found = try await data(CacheKey("bytes"), in: store) else { throw missing(CacheKey("bytes")) }
            try expect(found == bytes, "the bytes differ from the stored bytes")
        },
        Case(description: "a new entry replaces the old one, head and body") { store in
            let key = CacheKey("k")
            try await store.store(try entry("a long first body", path: "one"), for: key)
            try await store.store(try entry("second", path: "two"), for: key)
            guard let found = try await store.entry(for: key) else { throw missing(key) }
            try expect(found.head.url == "https://example.com/two", "the old head was returned")
            try await expect("second", at: key, in: store, "the old body was returned")
        },
        Case(description: "keys are distinguished by every character") { store in
            let keys = ["k", "K", "k ", "k\n", "", "k/", "k%20", String(repeating: "k", count: 5000)]
            for (number, key) in keys.enumerated() { try await store.store(try entry("\(number)"), for: CacheKey(key)) }
            for (number, key) in keys.enumerated() {
                try await expect("\(number)", at: CacheKey(key), in: store, "key \(number) has another key's body")
            }
        },
        Case(description: "a streamed body is read to its end") { store in
            let chunks = (0..<20).map { Data(repeating: UInt8($0), count: 10_000) }
            let body = HTTPBody(source: Chunks(chunks, failing: false))
            try await store.store(CacheEntry(head: try entry("").head, body: body), for: CacheKey("stream"))
            guard let found = try await data(CacheKey("stream"), in: store) else {
                throw missing(CacheKey("stream"))
            }
            try expect(found == chunks.reduce(Data(), +), "the bytes differ from the stored bytes")
        },
        Case(description: "if a streamed body fails, the earlier entry stays") { store in
            let key = CacheKey("torn")
            try await store.store(try entry("whole"), for: key)
            let body = HTTPBody(source: Chunks([Data(repeating: 1, count: 300_000)], failing: true))
            do {
                try await store.store(CacheEntry(head: try entry("").head, body: body), for: key)
                throw Failure(description: "store(_:for:) didn't throw the error of the entry's body")
            } catch is Chunks.Torn {}
            try await expect("whole", at: key, in: store, "an incomplete body replaced a complete one")
        },
        Case(description: "the secret has at least 16 bytes and doesn't change") { store in
            let secret = try await store.secret()
            try expect(secret.count >= 16, "the secret has \(secret.count) bytes")
            try expect(try await store.secret() == secret, "the secret changed")
        },
    ]

    static let removals: [Case] = [
        Case(description: "removing an entry doesn't remove other entries") { store in
            try await store.store(try entry("a"), for: CacheKey("a"))
            try await store.store(try entry("b"), for: CacheKey("b"))
            try await store.remove(CacheKey("a"))
            try await store.remove(CacheKey("never there"))
            try expect(try await store.entry(for: CacheKey("a")) == nil, "the entry still exists after its removal")
            try await expect("b", at: CacheKey("b"), in: store, "removing an entry also removed another one")
        },
        Case(description: "entries are removed by URL, tag, partition and date") { store in
            for number in 0..<12 {
                let entry = try entry(
                    "\(number)", path: "\(number % 2)/\(number)", tags: number % 3 == 0 ? ["three"] : [],
                    partition: number % 4 == 0 ? "four" : nil, expires: number == 11 ? 1 : 60)
                try await store.store(entry, for: CacheKey("\(number)"))
            }
            func left() async throws -> Set<Int> {
                var result: Set<Int> = []
                for number in 0..<12 where try await store.entry(for: CacheKey("\(number)")) != nil {
                    result.insert(number)
                }
                return result
            }
            try await store.removeAll { $0.tags.contains("three") }
            try expect(try await left() == [1, 2, 4, 5, 7, 8, 10, 11], "by tag")
            try await store.removeAll { $0.partition == "four" }
            try expect(try await left() == [1, 2, 5, 7, 10, 11], "by partition")
            try await store.removeAll { $0.expires < Date(timeIntervalSince1970: 1_700_000_030) }
            try expect(try await left() == [1, 2, 5, 7, 10], "by date")
            try await store.removeAll { $0.url.hasPrefix("https://example.com/1/") }
            try expect(try await left() == [2, 10], "by URL")
            try await store.removeAll { _ in true }
            try expect(try await left() == [], "all")
        },
    ]

    static let concurrency: [Case] = [
        Case(description: "64 concurrent tasks never see an incomplete body, or a body under another key") { store in
            try await withThrowingTaskGroup { group in
                for task in 0..<64 {
                    group.addTask {
                        for round in 0..<8 {
                            let key = CacheKey("\((task + round) % 16)")
                            if round % 2 == task % 2 {
                                let body = Data("\(key.text):".utf8) + Data(repeating: UInt8(task), count: 2000)
                                try await store.store(try entry(body, path: key.text), for: key)
                            } else if let found = try await store.entry(for: key) {
                                let data = try await found.body.collect(upTo: 10_000)
                                let mark = Data("\(key.text):".utf8)
                                try expect(data.starts(with: mark), "a key returned the body of another key")
                                try expect(data.count == 2000 + mark.count, "a body wasn't complete")
                                try expect(Set(data.dropFirst(mark.count)).count == 1, "a mixed body")
                                try expect(
                                    found.head.url.hasSuffix("/\(key.text)"),
                                    "a head was returned with the body of another entry")
                            }
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    ]
}

final class Chunks: HTTPBodySource {
    struct Torn: Error {}
    private let chunks: [Data]
    private let fails: Bool
    private let next = Atomic(0)

    init(_ chunks: [Data], failing: Bool) {
        self.chunks = chunks
        fails = failing
    }

    func nextChunk() async throws -> Data? {
        let index = next.add(1, ordering: .relaxed).oldValue
        if index < chunks.count { return chunks[index] }
        if fails { throw Torn() }
        return nil
    }

    func cancel() {}
}
