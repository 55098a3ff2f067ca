public import Errand
public import ErrandEssentials

/// Stores cached responses. Implement it to keep entries elsewhere, for example in a database that several machines
/// share.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: url, transport: .curl, filters: [.cache(MyStore())])
/// ```
///
/// A store keeps an entry until it's removed or evicted. A store:
///
/// - may drop entries, but must never return one key's entry for another key.
/// - must have a limit.
/// - can throw. The cache then notes the error for logs, and the request continues.
///
/// The methods are called concurrently, off the caller's actor. Test your store with the conformance suite in
/// `ErrandCacheTesting`.
public protocol CacheStore: AnyObject, Sendable {
    /// Returns a key's entry, if it exists, and marks it as recently used.
    func entry(for key: CacheKey) async throws -> CacheEntry?

    /// Stores an entry, which replaces the earlier entry with the same key.
    ///
    /// Read a streamed body to the end. If reading throws, keep the earlier entry and rethrow. If the entry is removed
    /// while you read the body, don't add it. ``InFlightWrites`` helps with this.
    func store(_ entry: CacheEntry, for key: CacheKey) async throws

    /// Replaces the head of an entry and keeps the body. If the entry doesn't exist or its head isn't `old`, returns
    /// false and doesn't change the store. Compare the heads by their ``CacheEntryHead/encoded()``, because encoding
    /// rounds dates.
    ///
    /// The default implementation reads the entry and stores it again, which undoes a removal in between. Implement
    /// this method if others use the store at the same time, or if it can avoid copying the body.
    func update(_ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey) async throws -> Bool

    /// Removes a key's entry, if it exists.
    func remove(_ key: CacheKey) async throws

    /// Removes every entry whose head matches.
    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws

    /// Returns a secret key. The cache uses it to store MACs of values that must not be stored as plain text.
    ///
    /// The secret contains at least 16 random bytes. Persist it if entries outlive the process: after the secret
    /// changes, entries that depend on it are misses.
    func secret() async throws -> Data
}

extension CacheStore {
    /// The default implementation reads the entry and stores it again with the new head.
    public func update(
        _ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey
    ) async throws -> Bool {
        guard let entry = try await entry(for: key), entry.head.encoded() == old.encoded() else { return false }
        try await store(CacheEntry(head: head, body: entry.body), for: key)
        return true
    }
}

/// The error that a store throws, for example because the disk is full. Accessories receive it as a note, and the
/// request doesn't fail.
public struct CacheStoreError: DescribedError, Sendable {
    /// What failed, in one sentence without secrets.
    public let description: String

    /// Creates an error with a sentence, which must not contain secrets.
    public init(_ description: String) { self.description = description }

    /// The code of the `NSError`, always 1.
    public var errorCode: Int { 1 }
}

extension CacheStoreError {
    /// The sentence that users see as `localizedDescription`.
    public var failureSentence: FailureSentence { .fileFailed }
}

/// The limits of a store, which evicts the least recently used entries.
///
/// ```swift
/// .megabytes(50)
/// .megabytes(50).entries(1_000)
/// .megabytes(50).maximumEntryBytes(1_000_000)
/// ```
public struct CacheLimit: Sendable, Hashable {
    /// The maximum total size of bodies, heads and keys, in bytes.
    public var bytes: Int64
    /// The maximum number of entries. Defaults to `.max`: no limit.
    public var entries: Int
    /// The maximum size of one entry, in bytes. A larger response isn't stored. Defaults to a quarter of ``bytes``, and
    /// is never more than ``bytes``.
    public var maximumEntryBytes: Int64 {
        get { min(entryBytes ?? bytes / 4, bytes) }
        set { entryBytes = max(0, newValue) }
    }
    /// Nil for a quarter of `bytes`.
    private var entryBytes: Int64?

    /// Creates a limit. Negative numbers count as 0.
    public init(bytes: Int64, entries: Int = .max) {
        self.bytes = max(0, bytes)
        self.entries = max(0, entries)
    }

    /// Creates a limit on the number of bytes.
    public static func bytes(_ count: Int64) -> CacheLimit { CacheLimit(bytes: count) }
    /// Creates a limit in megabytes of 1,000,000 bytes.
    public static func megabytes(_ count: Int) -> CacheLimit { CacheLimit(bytes: Int64(clamping: count) * 1_000_000) }

    /// Returns a copy that also limits the number of entries.
    public func entries(_ count: Int) -> CacheLimit {
        var limit = self
        limit.entries = max(0, count)
        return limit
    }

    /// Returns a copy with another limit for the size of one entry, in bytes.
    public func maximumEntryBytes(_ count: Int64) -> CacheLimit {
        var limit = self
        limit.maximumEntryBytes = count
        return limit
    }

    /// Throws if an entry is too large.
    func check(entryBytes count: Int64) throws(CacheStoreError) {
        if count > maximumEntryBytes { throw tooLarge }
    }

    var tooLarge: CacheStoreError {
        CacheStoreError("the entry is larger than the store's limit for one entry, \(maximumEntryBytes) bytes")
    }
}
