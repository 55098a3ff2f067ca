public import Errand
public import ErrandCache
import ErrandEssentials

/// The conformance suite for a ``CacheStore``: a list of cases for any test framework.
///
/// ```swift
/// @Test(arguments: CacheStoreSuite.cases) func conforms(_ test: CacheStoreSuite.Case) async throws {
///     try await test.run { MyStore() }
/// }
/// ```
///
/// Each case makes a store of its own, which has to be empty and able to hold at least a megabyte and 100 entries.
public enum CacheStoreSuite {
    /// One expectation.
    public struct Case: Sendable, CustomStringConvertible {
        /// The expectation, as a sentence.
        public let description: String
        private let body: @Sendable (Maker) async throws -> Void

        typealias Maker = () async throws -> any CacheStore

        init(description: String, body: @escaping @Sendable (any CacheStore) async throws -> Void) {
            self.init(description: description, opening: { make in try await body(try await make()) })
        }

        /// A case that opens the store more than once.
        init(description: String, opening body: @escaping @Sendable (Maker) async throws -> Void) {
            self.description = description
            self.body = body
        }

        /// Makes a store and tests it. Throws ``Failure`` if the store behaves otherwise, and what the store throws.
        public func run(_ makeStore: () async throws -> any CacheStore) async throws { try await body(makeStore) }
    }

    /// How a store failed a case.
    public struct Failure: DescribedError, Sendable {
        /// The behaviour of the store, as a sentence.
        public let description: String
        /// 1: there is one kind.
        public var errorCode: Int { 1 }
        /// "Errand.CacheStoreSuite.Failure"
        public static var errorDomain: String { "Errand.CacheStoreSuite.Failure" }
    }

    /// The cases for every store; ``persistentCases`` and ``limitCases`` are for stores that persist entries or have a
    /// limit.
    public static let cases: [Case] = basics + fidelity + secrets + removals + selections + concurrency

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

    static func data(_ key: CacheKey, in store: any CacheStore) async throws -> Data? {
        try await store.entry(for: key)?.body.collect(upTo: 1 << 24)
    }

    static func text(_ key: CacheKey, in store: any CacheStore) async throws -> String? {
        try await data(key, in: store).map { String(decoding: $0, as: UTF8.self) }
    }
}
