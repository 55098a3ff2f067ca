public import Errand
public import ErrandEssentials

/// Stores entries. Implement it to store them elsewhere, such as in a database that several machines share.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: url, transport: .curl, filters: [.cache(MyStore())])
/// ```
///
/// A store is independent of HTTP: it keeps an entry under a key until the entry is removed or evicted. It may lose
/// entries, it must never confuse them, and it must have a limit. An error that it throws is noted for logs and counts
/// as a miss; no request fails because of it. Its methods are called off the caller's actor, by several tasks
/// concurrently. `ErrandCacheTesting` has the conformance suite for stores.
public protocol CacheStore: AnyObject, Sendable {
    /// Returns the entry of a key, nil if there is none, and marks it as recently used.
    func entry(for key: CacheKey) async throws -> CacheEntry?

    /// Stores an entry, and replaces an earlier one with this key. The body may be a stream: read it to its end; if
    /// that throws, leave the earlier entry unchanged and rethrow.
    func store(_ entry: CacheEntry, for key: CacheKey) async throws

    /// Replaces the head of an entry; the body stays. Returns false, and changes nothing, if there is no entry or its
    /// head is not `old`. The default implementation reads the entry and stores it again: implement it if the store can
    /// replace a head without copying the body.
    func update(_ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey) async throws -> Bool

    /// Removes the entry of a key, if it exists.
    func remove(_ key: CacheKey) async throws

    /// Removes every entry whose head matches.
    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws

    /// Returns the secret for the keyed hashes of values that must not be stored in the clear: at least 16 random
    /// bytes, which do not change as long as the store has entries. A store whose entries outlive the process has to
    /// persist the secret; after a change these entries are misses.
    func secret() async throws -> Data
}

extension CacheStore {
    /// Reads the entry, and stores it again with the new head.
    public func update(
        _ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey
    ) async throws -> Bool {
        guard let entry = try await entry(for: key), entry.head.encoded() == old.encoded() else { return false }
        try await store(CacheEntry(head: head, body: entry.body), for: key)
        return true
    }
}

/// An error of a store.
public struct CacheStoreError: DescribedError, Sendable {
    /// A sentence without secrets.
    public let description: String

    /// Makes an error with a sentence, which must not contain secrets.
    public init(_ description: String) { self.description = description }

    /// 1: there is one kind.
    public var errorCode: Int { 1 }
}

extension CacheStoreError {
    /// The sentence for people.
    public var failureSentence: FailureSentence { .fileFailed }
}
