import Errand
import ErrandCache
import Foundation
import Synchronization

/// Keeps entries in a dictionary, and evicts the least recently used.
final class DictionaryStore: CacheStore {
    private struct Item {
        var head: CacheEntryHead
        var body: Data
        var use: UInt64
        var size: Int64
    }
    private struct State {
        var items: [CacheKey: Item] = [:]
        var clock: UInt64 = 0
        var bytes: Int64 = 0
        let secret = Data((0..<32).map { _ in UInt8.random(in: 0...255) })

        mutating func remove(_ key: CacheKey) {
            if let item = items.removeValue(forKey: key) { bytes -= item.size }
        }
    }
    private let state = Mutex(State())
    private let writes = Mutex(InFlightWrites())
    let limit: CacheLimit
    init(limit: CacheLimit = .megabytes(20)) { self.limit = limit }

    func entry(for key: CacheKey) -> CacheEntry? {
        state.withLock { state in
            guard var item = state.items[key] else { return nil }
            state.clock += 1
            item.use = state.clock
            state.items[key] = item
            return CacheEntry(head: item.head, body: HTTPBody(item.body))
        }
    }

    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        let write = writes.withLock { $0.begin(entry.head, for: key) }
        defer { writes.withLock { $0.end(write) } }
        let body = try await entry.body.collect(upTo: Int(clamping: limit.bytes))
        let size = Int64(body.count + entry.head.encoded().count + key.text.utf8.count + 200)
        state.withLock { state in
            if writes.withLock({ $0.isStopped(write) }) { return }
            state.remove(key)
            if size > limit.bytes || limit.entries == 0 { return }
            while state.bytes + size > limit.bytes || state.items.count >= limit.entries,
                let oldest = state.items.min(by: { $0.value.use < $1.value.use })
            {
                state.remove(oldest.key)
            }
            state.clock += 1
            state.items[key] = Item(head: entry.head, body: body, use: state.clock, size: size)
            state.bytes += size
        }
    }

    func update(_ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey) -> Bool {
        state.withLock { state in
            guard let item = state.items[key], item.head.encoded() == old.encoded() else { return false }
            state.items[key]?.head = head
            let change = Int64(head.encoded().count - item.head.encoded().count)
            state.items[key]?.size += change
            state.bytes += change
            while state.bytes > limit.bytes, let oldest = state.items.min(by: { $0.value.use < $1.value.use }) {
                state.remove(oldest.key)
            }
            return true
        }
    }

    func remove(_ key: CacheKey) {
        writes.withLock { _ = $0.stop(key) }
        state.withLock { $0.remove(key) }
    }

    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) {
        writes.withLock { $0.stop(where: matches) }
        let heads = state.withLock { $0.items.mapValues(\.head) }
        let keys = heads.filter { matches($0.value) }
        state.withLock { state in
            for (key, head) in keys where state.items[key]?.head == head { state.remove(key) }
        }
    }

    func secret() -> Data { state.withLock { $0.secret } }
}

/// Keeps entries in a dictionary of texts.
///
/// Mistake: Swift compares strings by canonical equivalence, and a server compares bytes.
final class TextStore: CacheStore {
    private struct State {
        var items: [String: (head: CacheEntryHead, body: Data)] = [:]
        var order: [String] = []
    }
    private let state = Mutex(State())
    private let key = Data((0..<32).map { _ in UInt8.random(in: 0...255) })

    func entry(for key: CacheKey) -> CacheEntry? {
        state.withLock { $0.items[key.text] }.map { CacheEntry(head: $0.head, body: HTTPBody($0.body)) }
    }

    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        let body = try await entry.body.collect(upTo: 10_000_000)
        state.withLock { state in
            if state.items.updateValue((entry.head, body), forKey: key.text) == nil { state.order.append(key.text) }
            if state.order.count > 1_000 { state.items[state.order.removeFirst()] = nil }
        }
    }

    func update(_ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey) -> Bool {
        state.withLock { state in
            guard state.items[key.text]?.head.encoded() == old.encoded() else { return false }
            state.items[key.text]?.head = head
            return true
        }
    }

    func remove(_ key: CacheKey) {
        state.withLock { state in
            state.items[key.text] = nil
            state.order.removeAll { $0 == key.text }
        }
    }

    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) {
        state.withLock { state in
            state.items = state.items.filter { !matches($0.value.head) }
            state.order.removeAll { state.items[$0] == nil }
        }
    }

    func secret() -> Data { key }
}

/// Keeps each entry in a file.
actor FileStore: CacheStore {
    let directory: URL
    private let entries: Int
    private var writes = InFlightWrites()

    init(_ directory: URL, entries: Int = 500) {
        (self.directory, self.entries) = (directory, entries)
        try? FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    }

    private func file(_ key: CacheKey) -> URL { directory.appendingPathComponent(key.digest + ".entry") }

    private func read(_ url: URL) -> (head: CacheEntryHead, body: Data)? {
        guard let data = try? Data(contentsOf: url), data.count >= 8 else { return nil }
        let count = data.prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
        guard count <= UInt64(data.count - 8),
            let head = CacheEntryHead(encoded: Data(data.dropFirst(8).prefix(Int(count))))
        else { return nil }
        return (head, Data(data.dropFirst(8 + Int(count))))
    }

    private func save(_ head: CacheEntryHead, _ body: Data, to url: URL) throws {
        let encoded = head.encoded()
        var data = Data((0..<8).reversed().map { UInt8(truncatingIfNeeded: encoded.count >> ($0 * 8)) })
        data.append(encoded)
        data.append(body)
        try data.write(to: url, options: .atomic)
    }

    private func files() -> [URL] {
        let all = try? FileManager.default.contentsOfDirectory(at: directory, includingPropertiesForKeys: nil)
        return (all ?? []).filter { $0.pathExtension == "entry" }
    }

    func entry(for key: CacheKey) -> CacheEntry? {
        let url = file(key)
        guard let (head, body) = read(url) else { return nil }
        try? FileManager.default.setAttributes([.modificationDate: Date()], ofItemAtPath: url.path)
        return CacheEntry(head: head, body: HTTPBody(body))
    }

    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        let write = writes.begin(entry.head, for: key)
        defer { writes.end(write) }
        let body = try await entry.body.collect(upTo: 10_000_000)
        if writes.isStopped(write) { return }
        try save(entry.head, body, to: file(key))
        let all = files()
        if all.count <= entries { return }
        let dated = all.map { url in
            (url, (try? FileManager.default.attributesOfItem(atPath: url.path)[.modificationDate] as? Date) ?? nil)
        }
        let oldest = dated.sorted { ($0.1 ?? .distantPast) < ($1.1 ?? .distantPast) }
        for (url, _) in oldest.prefix(all.count - entries) { try? FileManager.default.removeItem(at: url) }
    }

    func update(_ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey) throws -> Bool {
        guard let (current, body) = read(file(key)), current.encoded() == old.encoded() else { return false }
        try save(head, body, to: file(key))
        return true
    }

    func remove(_ key: CacheKey) {
        writes.stop(key)
        try? FileManager.default.removeItem(at: file(key))
    }

    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) {
        writes.stop(where: matches)
        for url in files() {
            if let (head, _) = read(url), matches(head) { try? FileManager.default.removeItem(at: url) }
        }
    }

    func secret() throws -> Data {
        let url = directory.appendingPathComponent("secret")
        if let data = try? Data(contentsOf: url), data.count == 32 { return data }
        let data = Data((0..<32).map { _ in UInt8.random(in: 0...255) })
        try data.write(to: url, options: .atomic)
        return data
    }
}

/// Keeps heads and bodies apart, so heads can be read quickly.
///
/// Mistake: between the two, another call can run, and gets the head of one response with the body of another.
actor TwoTableStore: CacheStore {
    private var heads: [CacheKey: CacheEntryHead] = [:]
    private var bodies: [CacheKey: Data] = [:]
    private let key = Data((0..<32).map { _ in UInt8.random(in: 0...255) })

    func entry(for key: CacheKey) -> CacheEntry? {
        guard let head = heads[key], let body = bodies[key] else { return nil }
        return CacheEntry(head: head, body: HTTPBody(body))
    }

    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        if heads.count >= 1_000 { (heads, bodies) = ([:], [:]) }
        heads[key] = entry.head
        bodies[key] = try await entry.body.collect(upTo: 10_000_000)
    }

    func update(_ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey) -> Bool {
        guard heads[key]?.encoded() == old.encoded() else { return false }
        heads[key] = head
        return true
    }

    func remove(_ key: CacheKey) { (heads[key], bodies[key]) = (nil, nil) }

    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) {
        for (key, head) in heads where matches(head) { remove(key) }
    }

    func secret() -> Data { key }
}

/// Keeps entries in an actor.
///
/// Mistake: the comparison of an update and its write aren't one step, so a newer head is overwritten.
actor SlowUpdateStore: CacheStore {
    private var items: [CacheKey: (head: CacheEntryHead, body: Data)] = [:]
    private var writes = InFlightWrites()
    private let key = Data((0..<32).map { _ in UInt8.random(in: 0...255) })

    func entry(for key: CacheKey) -> CacheEntry? {
        items[key].map { CacheEntry(head: $0.head, body: HTTPBody($0.body)) }
    }

    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        let write = writes.begin(entry.head, for: key)
        defer { writes.end(write) }
        let body = try await entry.body.collect(upTo: 10_000_000)
        if writes.isStopped(write) { return }
        if items.count >= 1_000 { items.removeAll() }
        items[key] = (entry.head, body)
    }

    func update(_ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey) async throws -> Bool {
        guard let item = items[key], item.head.encoded() == old.encoded() else { return false }
        // Writes a journal first.
        await Task.yield()
        items[key] = (head, item.body)
        return true
    }

    func remove(_ key: CacheKey) {
        writes.stop(key)
        items[key] = nil
    }

    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) {
        writes.stop(where: matches)
        items = items.filter { !matches($0.value.head) }
    }

    func secret() -> Data { key }
}

/// Keeps each entry in a file with a readable name.
///
/// Mistake: keys that differ in a slash or in case share a file.
actor ReadableFileStore: CacheStore {
    private var items: [String: (head: CacheEntryHead, body: Data)] = [:]
    private let key = Data((0..<32).map { _ in UInt8.random(in: 0...255) })

    private func name(_ key: CacheKey) -> String {
        String(key.text.lowercased().map { $0.isLetter || $0.isNumber ? $0 : "_" })
    }

    func entry(for key: CacheKey) -> CacheEntry? {
        items[name(key)].map { CacheEntry(head: $0.head, body: HTTPBody($0.body)) }
    }

    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        let body = try await entry.body.collect(upTo: 10_000_000)
        if items.count >= 1_000 { items.removeAll() }
        items[name(key)] = (entry.head, body)
    }

    func remove(_ key: CacheKey) { items[name(key)] = nil }

    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) {
        items = items.filter { !matches($0.value.head) }
    }

    func secret() -> Data { key }
}
