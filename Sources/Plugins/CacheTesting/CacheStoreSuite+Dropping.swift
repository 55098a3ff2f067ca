import Errand
import ErrandCache
import ErrandEssentials
import Synchronization

/// Wraps a store that may drop entries. If the store has dropped an entry, returns a copy that the wrapper kept, so
/// cases can expect every entry. A wrong entry isn't hidden.
actor KeepingStore: CacheStore {
    private let store: any CacheStore
    private var known: [CacheKey: (head: CacheEntryHead, body: Data)] = [:]
    /// Writes that are reading their bodies and weren't removed.
    private var writes: [Int: (key: CacheKey, head: CacheEntryHead)] = [:]
    private var writeCount = 0

    init(_ store: any CacheStore) { self.store = store }

    func entry(for key: CacheKey) async throws -> CacheEntry? {
        if let entry = try await store.entry(for: key) { return entry }
        return known[key].map { CacheEntry(head: $0.head, body: HTTPBody($0.body)) }
    }

    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        if let data = entry.body.data {
            try await store.store(entry, for: key)
            known[key] = (entry.head, data)
            return
        }
        let source = RecordedSource(entry.body)
        let body = HTTPBody(length: entry.body.length, source: source)
        writeCount += 1
        let number = writeCount
        writes[number] = (key, entry.head)
        defer { writes[number] = nil }
        try await store.store(CacheEntry(head: entry.head, body: body), for: key)
        // A store may stop reading early.
        while try await source.nextChunk() != nil {}
        if writes[number] != nil { known[key] = (entry.head, source.data) }
    }

    func update(
        _ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey
    ) async throws -> Bool {
        let isDone = try await store.update(head, replacing: old, for: key)
        guard let dropped = known[key], dropped.head == old else { return isDone }
        let isMissing = try await store.entry(for: key) == nil
        if isDone || isMissing { known[key]?.head = head }
        return isDone || isMissing
    }

    func remove(_ key: CacheKey) async throws {
        try await store.remove(key)
        known[key] = nil
        writes = writes.filter { $0.value.key != key }
    }

    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws {
        try await store.removeAll(where: matches)
        known = known.filter { !matches($0.value.head) }
        writes = writes.filter { !matches($0.value.head) }
    }

    func secret() async throws -> Data { try await store.secret() }
}

private final class RecordedSource: HTTPBodySource {
    private let chunks: BodyChunks
    private let bytes = Mutex(Data())

    init(_ body: HTTPBody) { chunks = BodyChunks(body) }

    var data: Data { bytes.withLock { $0 } }

    func nextChunk() async throws -> Data? {
        guard let chunk = try await chunks.next() else { return nil }
        bytes.withLock { $0.append(chunk) }
        return chunk
    }

    func cancel() { chunks.cancel() }
}
