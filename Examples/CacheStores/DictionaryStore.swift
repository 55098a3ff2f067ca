import Errand
import ErrandCache
import Foundation

/// A minimal in-memory store: a dictionary that drops everything when it is full.
///
/// ```swift
/// filters: [.cache(DictionaryStore())]
/// ```
actor DictionaryStore: CacheStore {
    private var entries: [CacheKey: CacheEntry] = [:]
    private var bytes: Int64 = 0
    private var writes = InFlightWrites()
    private let limit: Int64
    private let key = Data((0..<32).map { _ in UInt8.random(in: 0 ... .max) })

    init(limit: Int64 = 10_000_000) { self.limit = limit }

    func entry(for key: CacheKey) -> CacheEntry? { entries[key] }

    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        let write = writes.begin(entry.head, for: key)
        defer { writes.end(write) }
        // A body may be a stream. If reading it throws, the earlier entry stays.
        let body = HTTPBody(try await entry.body.collect(upTo: Int(limit / 4)))
        if writes.isStopped(write) { return }
        drop(key)
        if bytes + Self.cost(body) > limit { (entries, bytes) = ([:], 0) }
        entries[key] = CacheEntry(head: entry.head, body: body)
        bytes += Self.cost(body)
    }

    func remove(_ key: CacheKey) {
        writes.stop(key)
        drop(key)
    }

    private func drop(_ key: CacheKey) {
        if let old = entries.removeValue(forKey: key) { bytes -= Self.cost(old.body) }
    }

    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) {
        writes.stop(where: matches)
        for (key, entry) in entries where matches(entry.head) { drop(key) }
    }

    func secret() -> Data { key }

    /// Estimates the memory of an entry: its body, and a few hundred bytes for its head.
    private static func cost(_ body: HTTPBody) -> Int64 { (body.length ?? 0) + 500 }
}
