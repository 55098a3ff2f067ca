/// The writes of a store that are still reading their bodies, so a removal can stop them.
///
/// The body of an entry can be a stream that takes a while to arrive. If the entry is removed while the store reads the
/// body, the store must not add the entry afterwards:
///
/// ```swift
/// actor MyStore: CacheStore {
///     private var entries: [CacheKey: CacheEntry] = [:]
///     private var writes = InFlightWrites()
///     private let random = Data((0..<32).map { _ in UInt8.random(in: 0 ... .max) })
///
///     func store(_ entry: CacheEntry, for key: CacheKey) async throws {
///         let write = writes.begin(entry.head, for: key)
///         defer { writes.end(write) }
///         let body = try await entry.body.collect(upTo: 1 << 20)
///         if writes.isStopped(write) { return }
///         entries[key] = CacheEntry(head: entry.head, body: HTTPBody(body))
///     }
///
///     func remove(_ key: CacheKey) {
///         writes.stop(key)
///         entries[key] = nil
///     }
///
///     func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) {
///         writes.stop(where: matches)
///         entries = entries.filter { !matches($0.value.head) }
///     }
///
///     func entry(for key: CacheKey) -> CacheEntry? { entries[key] }
///     func secret() -> Data { random }
/// }
/// ```
public struct InFlightWrites: Sendable {
    /// Identifies a write.
    public struct ID: Sendable, Hashable {
        let number: UInt64
    }

    private struct Write {
        let key: CacheKey
        let head: CacheEntryHead
        var isStopped = false
    }

    private var writes: [ID: Write] = [:]
    private var count: UInt64 = 0

    /// Creates a value without writes.
    public init() {}

    /// Adds a write. Call ``end(_:)`` when it succeeds or fails.
    public mutating func begin(_ head: CacheEntryHead, for key: CacheKey) -> ID {
        count += 1
        let id = ID(number: count)
        writes[id] = Write(key: key, head: head)
        return id
    }

    /// Returns whether a removal has stopped the write, so its entry must not be added.
    public func isStopped(_ id: ID) -> Bool { writes[id]?.isStopped ?? true }

    /// Forgets a write.
    public mutating func end(_ id: ID) { writes[id] = nil }

    /// Stops the writes of a key. Returns whether there are any.
    @discardableResult public mutating func stop(_ key: CacheKey) -> Bool {
        var isFound = false
        for (id, write) in writes where write.key == key {
            writes[id]?.isStopped = true
            isFound = true
        }
        return isFound
    }

    /// Stops the writes whose heads match.
    public mutating func stop(where matches: (CacheEntryHead) -> Bool) {
        for id in ids(where: matches) { stop(id) }
    }

    func ids(where matches: (CacheEntryHead) -> Bool) -> [ID] { writes.filter { matches($0.value.head) }.map(\.key) }

    @discardableResult mutating func stop(_ id: ID) -> Bool {
        guard writes[id] != nil else { return false }
        writes[id]?.isStopped = true
        return true
    }
}
