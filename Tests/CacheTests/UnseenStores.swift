import Errand
import ErrandCache
import Foundation
import Synchronization

/// A dictionary in memory for up to two hundred entries, from which wrong stores derive.
class UnseenStore<Key: Hashable & Sendable>: CacheStore, @unchecked Sendable {
    let entries = Mutex<[Key: CacheEntry]>([:])
    private let key: @Sendable (CacheKey) -> Key
    private let bytes = Data((0..<32).map { _ in UInt8.random(in: 0 ... .max) })

    init(key: @escaping @Sendable (CacheKey) -> Key) { self.key = key }

    func entry(for key: CacheKey) async throws -> CacheEntry? { entries.withLock { $0[self.key(key)] } }

    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        let body = HTTPBody(try await entry.body.collect(upTo: 5_000_000))
        entries.withLock { entries in
            if entries.count >= 200 { entries = [:] }
            entries[self.key(key)] = CacheEntry(head: entry.head, body: body)
        }
    }

    func update(_ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey) async throws -> Bool {
        entries.withLock { entries in
            guard let entry = entries[self.key(key)], entry.head.encoded() == old.encoded() else { return false }
            entries[self.key(key)] = CacheEntry(head: head, body: entry.body)
            return true
        }
    }

    func remove(_ key: CacheKey) async throws { entries.withLock { $0[self.key(key)] = nil } }

    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws {
        entries.withLock { $0 = $0.filter { !matches($0.value.head) } }
    }

    func secret() async throws -> Data { bytes }
}

/// Uses the key's text as the key of a dictionary. Swift compares text by meaning, so `é` equals `e` with an accent.
final class TextKeyStore: UnseenStore<String>, @unchecked Sendable {
    init() { super.init { $0.text } }
}

/// Creates a new secret at each removal, even if other entries stay.
final class NewSecretStore: UnseenStore<CacheKey>, @unchecked Sendable {
    private let current = Mutex(Data((0..<32).map { _ in UInt8.random(in: 0 ... .max) }))
    init() { super.init { $0 } }

    override func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws {
        try await super.removeAll(where: matches)
        current.withLock { $0 = Data((0..<32).map { _ in UInt8.random(in: 0 ... .max) }) }
    }

    override func secret() async throws -> Data { current.withLock { $0 } }
}

/// Shares a read in progress with later readers, and forgets that an entry may be replaced before they ask.
final class SharedReadStore: UnseenStore<CacheKey>, @unchecked Sendable {
    private let reads = Mutex<[CacheKey: Task<CacheEntry?, any Error>]>([:])
    private let pause: @Sendable () async -> Void

    /// - Parameter pause: Called at the end of each read, to delay it.
    init(pause: @escaping @Sendable () async -> Void = { await Task.yield() }) {
        self.pause = pause
        super.init { $0 }
    }

    override func entry(for key: CacheKey) async throws -> CacheEntry? {
        let read = reads.withLock { reads in
            if let read = reads[key] { return read }
            let read = Task {
                let entry = try await super.entry(for: key)
                await pause()
                forget(key)
                return entry
            }
            reads[key] = read
            return read
        }
        return try await read.value
    }

    private func forget(_ key: CacheKey) { reads.withLock { $0[key] = nil } }
}

/// Keeps the bytes of each key in a file that it overwrites, so a reader gets parts of two bodies.
final class OverwritingStore: UnseenStore<CacheKey>, @unchecked Sendable {
    private let directory: URL

    init() throws {
        directory = FileManager.default.temporaryDirectory.appending(path: "store-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        super.init { $0 }
    }

    deinit { try? FileManager.default.removeItem(at: directory) }

    override func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        let data = try await entry.body.collect(upTo: 5_000_000)
        let file = directory.appending(path: key.digest)
        if !FileManager.default.fileExists(atPath: file.path) { try Data().write(to: file) }
        let handle = try FileHandle(forWritingTo: file)
        try handle.truncate(atOffset: 0)
        try handle.write(contentsOf: data)
        try handle.close()
        let head = entry.head
        entries.withLock { entries in
            if entries.count >= 200 { entries = [:] }
            entries[key] = CacheEntry(head: head, body: .empty)
        }
    }

    override func entry(for key: CacheKey) async throws -> CacheEntry? {
        guard var entry = try await super.entry(for: key) else { return nil }
        let file = directory.appending(path: key.digest)
        let size = try FileManager.default.attributesOfItem(atPath: file.path)[.size] as? Int64
        entry.body = HTTPBody(file: file, length: size)
        return entry
    }
}

/// Limits the bytes of bodies to a megabyte, but an entry without a body costs nothing.
final class BodyLimitStore: UnseenStore<CacheKey>, @unchecked Sendable {
    init() { super.init { $0 } }

    override func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        let body = HTTPBody(try await entry.body.collect(upTo: 5_000_000))
        entries.withLock { entries in
            let size = entries.values.reduce(0) { $0 + ($1.body.length ?? 0) }
            if size + (body.length ?? 0) > 1_000_000 { entries = [:] }
            entries[key] = CacheEntry(head: entry.head, body: body)
        }
    }
}

/// Reads its size before it waits for a body, and updates it afterwards, so concurrent stores start from the same old
/// size.
actor DriftingStore: CacheStore {
    private var entries: [CacheKey: CacheEntry] = [:]
    private(set) var bytes: Int64 = 0
    private let key = Data((0..<32).map { _ in UInt8.random(in: 0 ... .max) })
    var keptBytes: Int64 { entries.values.reduce(0) { $0 + Self.size(of: $1) } }

    private static func size(of entry: CacheEntry) -> Int64 {
        (entry.body.length ?? 0) + 2 * Int64(entry.head.encoded().count) + 1_000
    }

    func entry(for key: CacheKey) -> CacheEntry? { entries[key] }

    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        let before = bytes - (entries[key].map { Self.size(of: $0) } ?? 0)
        let body = HTTPBody(try await entry.body.collect(upTo: 5_000_000))
        let size = Self.size(of: CacheEntry(head: entry.head, body: body))
        if before + size > 1_000_000 {
            (entries, bytes) = ([key: CacheEntry(head: entry.head, body: body)], size)
        } else {
            entries[key] = CacheEntry(head: entry.head, body: body)
            bytes = before + size
        }
    }

    func remove(_ key: CacheKey) {
        if let old = entries.removeValue(forKey: key) { bytes -= Self.size(of: old) }
    }

    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) {
        for (key, entry) in entries where matches(entry.head) { remove(key) }
    }

    func secret() -> Data { key }
}

/// Keeps two generations: the older is dropped as soon as the younger is half full.
final class TwoGenerationStore: CacheStore {
    private struct State {
        var young: [CacheKey: CacheEntry] = [:]
        var old: [CacheKey: CacheEntry] = [:]
        var bytes: Int64 = 0
        let limit: Int64

        mutating func put(_ entry: CacheEntry, _ key: CacheKey) {
            drop(key)
            let size = Self.size(of: entry)
            // Too long to be worth a generation.
            if size > limit / 5 * 4 { return }
            if bytes + size > limit { (old, young, bytes) = (young, [:], 0) }
            young[key] = entry
            bytes += size
        }

        mutating func drop(_ key: CacheKey) {
            if let entry = young.removeValue(forKey: key) { bytes -= Self.size(of: entry) }
            old[key] = nil
        }

        private static func size(of entry: CacheEntry) -> Int64 {
            (entry.body.length ?? 0) + 2 * Int64(entry.head.encoded().count) + 1_000
        }
    }
    private let state: Mutex<State>
    private let writes = Mutex(InFlightWrites())
    private let key = Data((0..<32).map { _ in UInt8.random(in: 0 ... .max) })

    init(generation limit: Int64 = 500_000) { state = Mutex(State(limit: limit)) }

    func entry(for key: CacheKey) async throws -> CacheEntry? {
        state.withLock { state in
            guard let entry = state.young[key] ?? state.old[key] else { return nil }
            if state.young[key] == nil { state.put(entry, key) }
            return entry
        }
    }

    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        let write = writes.withLock { $0.begin(entry.head, for: key) }
        defer { writes.withLock { $0.end(write) } }
        let body = HTTPBody(try await entry.body.collect(upTo: 5_000_000))
        state.withLock { state in
            if !writes.withLock({ $0.isStopped(write) }) { state.put(CacheEntry(head: entry.head, body: body), key) }
        }
    }

    func update(_ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey) async throws -> Bool {
        state.withLock { state in
            guard let entry = state.young[key] ?? state.old[key], entry.head.encoded() == old.encoded() else {
                return false
            }
            state.put(CacheEntry(head: head, body: entry.body), key)
            return true
        }
    }

    func remove(_ key: CacheKey) async throws {
        writes.withLock { _ = $0.stop(key) }
        state.withLock { $0.drop(key) }
    }

    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws {
        writes.withLock { $0.stop(where: matches) }
        state.withLock { state in
            for (key, entry) in state.young.merging(state.old, uniquingKeysWith: { young, _ in young })
            where matches(entry.head) { state.drop(key) }
        }
    }

    func secret() async throws -> Data { key }
}
