import Errand
public import ErrandEssentials
import ErrandSupport
import Synchronization

/// Stores entries in memory and evicts the least recently used entries.
///
/// ```swift
/// filters: [.cache(.memory(limit: .megabytes(20)))]
/// ```
public final class MemoryStore: CacheStore {
    fileprivate struct Node {
        var key: CacheKey
        var entry: CacheEntry
        let write: InFlightWrites.ID
        var cost: Int64
        var older: Int
        var newer: Int
    }

    /// A linked list, from the least to the most recently used node. The index -1 marks both ends.
    fileprivate struct State {
        var indices: [CacheKey: Int] = [:]
        var nodes: [Node] = []
        var oldest = -1
        var newest = -1
        var bytes: Int64 = 0
        var writes = InFlightWrites()
    }

    private let limit: CacheLimit
    private let state = Mutex(State())
    private let key = Data((0..<32).map { _ in UInt8.random(in: 0 ... .max) })

    /// Creates a store with a limit. Defaults to 20 MB.
    public init(limit: CacheLimit = .megabytes(20)) { self.limit = limit }

    /// The number of bytes in use: bodies, heads, keys, and approximate overhead.
    public var byteCount: Int64 { state.withLock { $0.bytes } }
    /// The number of entries, including stale ones.
    public var entryCount: Int { state.withLock { $0.nodes.count } }

    /// Returns a key's entry, if it exists.
    public func entry(for key: CacheKey) async -> CacheEntry? { held(key) }

    fileprivate func held(_ key: CacheKey) -> CacheEntry? {
        state.withLock { state -> CacheEntry? in
            guard let index = state.indices[key] else { return nil }
            state.use(index)
            return state.nodes[index].entry
        }
    }

    /// Stores an entry. Throws ``CacheStoreError`` if it's larger than ``CacheLimit/maximumEntryBytes``.
    public func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        let overhead = Self.overhead(key, entry.head)
        try limit.check(entryBytes: overhead)
        let write = state.withLock { $0.writes.begin(entry.head, for: key) }
        defer { state.withLock { $0.writes.end(write) } }
        let data = try await body(of: entry, upTo: limit.maximumEntryBytes - overhead)
        // A slice would retain its whole buffer.
        let body = HTTPBody(Data(copying: data.span))
        let cost = overhead + Int64(data.count)
        state.withLock { state in
            if state.writes.isStopped(write) { return }
            if let index = state.indices[key] { state.remove(index) }
            while state.bytes > limit.bytes - cost || state.nodes.count >= limit.entries, state.oldest >= 0 {
                state.remove(state.oldest)
            }
            if limit.entries > 0 { state.add(key, CacheEntry(head: entry.head, body: body), write: write, cost: cost) }
        }
    }

    private func body(of entry: CacheEntry, upTo room: Int64) async throws -> Data {
        do { return try await entry.body.collect(upTo: Int(clamping: room)) } catch let error as ErrandError
            where error.code == .bodyTooLarge
        { throw limit.tooLarge }
    }

    /// Replaces the head without copying the body.
    public func update(_ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey) async throws -> Bool {
        let wanted = old.encoded()
        return try state.withLock { state in
            guard let index = state.indices[key], state.nodes[index].entry.head.encoded() == wanted else {
                return false
            }
            let cost = Self.overhead(key, head) + (state.nodes[index].entry.body.length ?? 0)
            try limit.check(entryBytes: cost)
            state.nodes[index].entry.head = head
            state.bytes += cost - state.nodes[index].cost
            state.nodes[index].cost = cost
            state.use(index)
            while state.bytes > limit.bytes, state.oldest >= 0 { state.remove(state.oldest) }
            return true
        }
    }

    private static func overhead(_ key: CacheKey, _ head: CacheEntryHead) -> Int64 {
        Int64(key.text.utf8.count + 128) + head.byteCount
    }

    /// Removes a key's entry, if it exists.
    public func remove(_ key: CacheKey) async {
        state.withLock { state in
            state.writes.stop(key)
            if let index = state.indices[key] { state.remove(index) }
        }
    }

    /// Removes the entries whose heads match.
    public func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async {
        // The closure may use the store, so call it on copies, without the lock.
        let (held, writes) = state.withLock { ($0.nodes.map { (write: $0.write, head: $0.entry.head) }, $0.writes) }
        let found = Set(held.filter { matches($0.head) }.map(\.write) + writes.ids(where: matches))
        if found.isEmpty { return }
        state.withLock { state in
            for write in found { state.writes.stop(write) }
            // A write may have ended since the copy.
            for key in state.nodes.filter({ found.contains($0.write) }).map(\.key) {
                if let index = state.indices[key] { state.remove(index) }
            }
        }
    }

    /// Returns random bytes, which are lost when the store is released.
    public func secret() async -> Data { key }
}

extension MemoryStore: ImmediateStore {
    func entryAtOnce(for key: CacheKey) -> KnownEntry { held(key).map(KnownEntry.entry) ?? .nothing }
}

extension MemoryStore.State {
    fileprivate mutating func add(
        _ key: CacheKey, _ entry: CacheEntry, write: InFlightWrites.ID, cost: Int64
    ) {
        indices[key] = nodes.count
        nodes.append(MemoryStore.Node(key: key, entry: entry, write: write, cost: cost, older: -1, newer: -1))
        link(nodes.count - 1)
        bytes += cost
    }

    fileprivate mutating func use(_ index: Int) {
        if index == newest { return }
        unlink(index)
        link(index)
    }

    fileprivate mutating func remove(_ index: Int) {
        unlink(index)
        bytes -= nodes[index].cost
        indices[nodes[index].key] = nil
        let last = nodes.removeLast()
        guard index < nodes.count else { return }
        nodes[index] = last
        indices[last.key] = index
        if last.older >= 0 { nodes[last.older].newer = index } else { oldest = index }
        if last.newer >= 0 { nodes[last.newer].older = index } else { newest = index }
    }

    private mutating func link(_ index: Int) {
        nodes[index].older = newest
        nodes[index].newer = -1
        if newest >= 0 { nodes[newest].newer = index } else { oldest = index }
        newest = index
    }

    private mutating func unlink(_ index: Int) {
        let (older, newer) = (nodes[index].older, nodes[index].newer)
        if older >= 0 { nodes[older].newer = newer } else { oldest = newer }
        if newer >= 0 { nodes[newer].older = older } else { newest = older }
    }
}

extension CacheStore where Self == MemoryStore {
    /// Creates a store in memory, by default with up to 20 MB.
    public static func memory(limit: CacheLimit = .megabytes(20)) -> MemoryStore { MemoryStore(limit: limit) }
}
