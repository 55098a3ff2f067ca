public import ErrandEssentials

/// Where entries are kept; write one to keep them elsewhere, such as in a database that many machines share.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: url, transport: .curl, filters: [.cache(MyStore())])
/// ```
///
/// A store knows nothing of HTTP: it keeps an entry under a key until it is told to remove it, or until it needs the room.
/// It may lose entries, it must never mix two of them up, and it must keep to a bound of its own. What it throws is
/// noted for logs and counts as a miss; no request ever fails for it. Called off the caller's actor, by many tasks at
/// once. `ErrandCacheTesting` has the suite that a store is expected to pass.
public protocol CacheStore: AnyObject, Sendable {
    /// The entry of a key, nil if there is none. Using an entry keeps it from being the next to go.
    func entry(for key: CacheKey) async throws -> CacheEntry?

    /// Puts an entry in the place of the one that may be there. The body may be a stream: read it to its end; if that
    /// throws, keep nothing and leave what was there.
    func store(_ entry: CacheEntry, for key: CacheKey) async throws

    /// Puts another head in the place of the stored one; the body stays. Returns false, and changes nothing, if there is no
    /// entry or its head is not `old`. By default reads the entry and stores it again: a store that can do it without
    /// moving the body should.
    func update(_ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey) async throws -> Bool

    /// Removes the entry of a key, if there is one.
    func remove(_ key: CacheKey) async throws

    /// Removes every entry whose head matches.
    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws

    /// 16 bytes or more for the keyed hashes of what must not be stored in the clear: always the same, as long as
    /// entries made with it may be found again, and known to nobody else. A store whose entries outlive the process has
    /// to keep it; a value that changed makes those entries misses.
    func secret() async throws -> Data
}

extension CacheStore {
    public func update(
        _ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey
    ) async throws -> Bool {
        guard let entry = try await entry(for: key), entry.head.encoded() == old.encoded() else { return false }
        try await store(CacheEntry(head: head, body: entry.body), for: key)
        return true
    }
}

/// How much a store may hold. What does not fit is made room for by removing what was used least recently.
///
/// ```swift
/// .megabytes(50)
/// .megabytes(50).entries(1_000)
/// ```
public struct CacheLimit: Sendable, Hashable {
    /// Bytes in all: bodies, heads and keys.
    public var bytes: Int64
    /// Entries in all; as many as fit by default.
    public var entries: Int

    /// Bytes and entries in all.
    public init(bytes: Int64, entries: Int = .max) {
        self.bytes = max(0, bytes)
        self.entries = max(0, entries)
    }

    /// Bytes.
    public static func bytes(_ count: Int64) -> CacheLimit { CacheLimit(bytes: count) }
    /// 1,000,000 bytes each.
    public static func megabytes(_ count: Int) -> CacheLimit { CacheLimit(bytes: Int64(clamping: count) * 1_000_000) }
    /// The same with so many entries at the most.
    public func entries(_ count: Int) -> CacheLimit { CacheLimit(bytes: bytes, entries: count) }

    /// A single entry may take a quarter of all bytes.
    var bytesOfOne: Int64 { bytes / 4 }
}

/// What a store could not do.
public struct CacheStoreError: Error, Sendable, CustomStringConvertible {
    /// A sentence without a secret.
    public let description: String

    /// Says what.
    public init(_ description: String) { self.description = description }
}
