import Errand
import ErrandCache
import Foundation
import Synchronization

/// Entries in sixteen dictionaries, so that few calls wait for each other.
final class ShardedStore: CacheStore {
    struct Shard {
        var entries: [CacheKey: (head: CacheEntryHead, body: Data, use: UInt64)] = [:]
        var use: UInt64 = 0
        var bytes = 0

        static func size(_ key: CacheKey, _ head: CacheEntryHead, _ body: Data) -> Int {
            key.text.utf8.count + head.encoded().count + body.count + 300
        }

        mutating func remove(_ key: CacheKey) {
            guard let entry = entries.removeValue(forKey: key) else { return }
            bytes -= Self.size(key, entry.head, entry.body)
        }

        mutating func put(_ key: CacheKey, _ head: CacheEntryHead, _ body: Data, limit: Int) {
            remove(key)
            let size = Self.size(key, head, body)
            guard size <= limit else { return }
            while bytes + size > limit, let oldest = entries.min(by: { $0.value.use < $1.value.use }) {
                remove(oldest.key)
            }
            use += 1
            entries[key] = (head, body, use)
            bytes += size
        }
    }
    private final class Box: Sendable {
        let shard = Mutex(Shard())
    }
    private let boxes = (0..<16).map { _ in Box() }
    private let writes = Mutex(InFlightWrites())
    private let key = Data((0..<32).map { _ in UInt8.random(in: 0...255) })
    let limit: Int
    init(limit: Int = 16_000_000) { self.limit = limit / 16 }

    private func box(_ key: CacheKey) -> Box { boxes[Int(key.digestBytes[0] & 15)] }

    func entry(for key: CacheKey) -> CacheEntry? {
        box(key).shard.withLock { shard in
            guard let entry = shard.entries[key] else { return nil }
            shard.use += 1
            shard.entries[key]?.use = shard.use
            return CacheEntry(head: entry.head, body: HTTPBody(entry.body))
        }
    }

    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        let write = writes.withLock { $0.begin(entry.head, for: key) }
        defer { writes.withLock { $0.end(write) } }
        let body = try await entry.body.collect(upTo: limit)
        box(key).shard.withLock {
            if !writes.withLock({ $0.isStopped(write) }) { $0.put(key, entry.head, body, limit: limit) }
        }
    }

    func update(_ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey) -> Bool {
        box(key).shard.withLock { shard in
            guard let entry = shard.entries[key], entry.head == old else { return false }
            shard.put(key, head, entry.body, limit: limit)
            return shard.entries[key] != nil
        }
    }

    func remove(_ key: CacheKey) {
        writes.withLock { _ = $0.stop(key) }
        box(key).shard.withLock { $0.remove(key) }
    }

    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) {
        writes.withLock { $0.stop(where: matches) }
        for box in boxes {
            let heads = box.shard.withLock { $0.entries.mapValues(\.head) }
            for (key, head) in heads where matches(head) {
                box.shard.withLock { if $0.entries[key]?.head == head { $0.remove(key) } }
            }
        }
    }

    func secret() -> Data { key }
}

/// Appends records to a log with an index, and compacts the log when most records are old.
final class LogStore: CacheStore {
    enum Record {
        case entry(CacheKey, CacheEntryHead, Data)
        case head(CacheKey, CacheEntryHead, body: Int)
        case removal(CacheKey)
    }
    private struct State {
        var records: [Record] = []
        var index: [CacheKey: Int] = [:]
        var order: [CacheKey] = []

        func read(_ position: Int) -> (head: CacheEntryHead, body: Data)? {
            switch records[position] {
            case .entry(_, let head, let body): return (head, body)
            case .head(_, let head, let position): return read(position).map { (head, $0.body) }
            case .removal: return nil
            }
        }

        mutating func compact(carefully: Bool, limit: Int) {
            guard records.count > 2 * index.count + 16 else { return }
            var kept: [Record] = []
            var places: [CacheKey: Int] = [:]
            for key in order {
                guard let position = index[key], places[key] == nil else { continue }
                var entry = read(position)
                if !carefully, case .head(_, _, let body) = records[position] { entry = read(body) }
                guard let entry else { continue }
                places[key] = kept.count
                kept.append(.entry(key, entry.head, entry.body))
            }
            records = kept
            index = places
            order = order.filter { places[$0] != nil }
        }
    }
    private let state = Mutex(State())
    private let writes = Mutex(InFlightWrites())
    private let key = Data((0..<32).map { _ in UInt8.random(in: 0...255) })
    let isCareful: Bool
    let limit: Int

    /// - Parameter isCareful: false is the mistake: the compaction takes the head that was written along with the body,
    ///   so a renewed entry is old again.
    init(isCareful: Bool, limit: Int = 1_000) { (self.isCareful, self.limit) = (isCareful, limit) }

    func entry(for key: CacheKey) -> CacheEntry? {
        state.withLock { state in
            guard let position = state.index[key], let found = state.read(position) else { return nil }
            return CacheEntry(head: found.head, body: HTTPBody(found.body))
        }
    }

    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        let write = writes.withLock { $0.begin(entry.head, for: key) }
        defer { writes.withLock { $0.end(write) } }
        let body = try await entry.body.collect(upTo: 4_000_000)
        state.withLock { state in
            if writes.withLock({ $0.isStopped(write) }) { return }
            state.records.append(.entry(key, entry.head, body))
            if state.index.updateValue(state.records.count - 1, forKey: key) == nil { state.order.append(key) }
            while state.index.count > limit {
                let oldest = state.order.removeFirst()
                if state.index.removeValue(forKey: oldest) != nil { state.records.append(.removal(oldest)) }
            }
            state.compact(carefully: isCareful, limit: limit)
        }
    }

    func update(_ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey) -> Bool {
        state.withLock { state in
            guard let position = state.index[key], let found = state.read(position), found.head == old else {
                return false
            }
            var body = position
            if case .head(_, _, let first) = state.records[position] { body = first }
            state.records.append(.head(key, head, body: body))
            state.index[key] = state.records.count - 1
            state.compact(carefully: isCareful, limit: limit)
            return true
        }
    }

    func remove(_ key: CacheKey) {
        writes.withLock { _ = $0.stop(key) }
        state.withLock { state in
            guard state.index.removeValue(forKey: key) != nil else { return }
            state.order.removeAll { $0 == key }
            state.records.append(.removal(key))
            state.compact(carefully: isCareful, limit: limit)
        }
    }

    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) {
        writes.withLock { $0.stop(where: matches) }
        let heads = state.withLock { state in state.index.mapValues { state.read($0)?.head } }
        let doomed = heads.compactMapValues { head in head.flatMap { matches($0) ? $0 : nil } }
        state.withLock { state in
            for (key, head) in doomed {
                guard let position = state.index[key], state.read(position)?.head == head else { continue }
                state.index[key] = nil
                state.order.removeAll { $0 == key }
                state.records.append(.removal(key))
            }
            state.compact(carefully: isCareful, limit: limit)
        }
    }

    func secret() -> Data { key }
}

/// A dictionary whose keys are numbers.
///
/// Mistake: the number has two bytes of the digest, so among many entries two have the same.
final class NumberedStore: CacheStore {
    private let entries = Mutex<[Int: (head: CacheEntryHead, body: Data)]>([:])
    private let key = Data((0..<32).map { _ in UInt8.random(in: 0...255) })

    private func number(_ key: CacheKey) -> Int { Int(key.digestBytes[0]) << 8 | Int(key.digestBytes[1]) }

    func entry(for key: CacheKey) -> CacheEntry? {
        entries.withLock { $0[number(key)] }.map { CacheEntry(head: $0.head, body: HTTPBody($0.body)) }
    }

    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        let body = try await entry.body.collect(upTo: 4_000_000)
        entries.withLock { entries in
            if entries.count > 5_000 { entries.removeAll() }
            entries[number(key)] = (entry.head, body)
        }
    }

    func update(_ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey) -> Bool {
        entries.withLock { entries in
            guard entries[number(key)]?.head == old else { return false }
            entries[number(key)]?.head = head
            return true
        }
    }

    func remove(_ key: CacheKey) { _ = entries.withLock { $0.removeValue(forKey: number(key)) } }

    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) {
        let heads = entries.withLock { $0.mapValues(\.head) }
        let doomed = heads.filter { matches($0.value) }
        entries.withLock { entries in
            for (number, head) in doomed where entries[number]?.head == head { entries[number] = nil }
        }
    }

    func secret() -> Data { key }
}

/// A dictionary that forgets whatever is older than a day, and removes old entries as it finds them.
///
/// Mistake: two steps remove an entry that is too old, and between them another call may have stored a new one; and a
/// matching entry that is being stored during `removeAll` is found afterwards.
final class DayStore: CacheStore {
    private let entries = Mutex<[CacheKey: (head: CacheEntryHead, body: Data)]>([:])
    private let key = Data((0..<32).map { _ in UInt8.random(in: 0...255) })

    func entry(for key: CacheKey) async -> CacheEntry? {
        guard let found = entries.withLock({ $0[key] }) else { return nil }
        if found.head.received.timeIntervalSinceNow < -86_400 {
            await Task.yield()
            entries.withLock { $0[key] = nil }
            return nil
        }
        return CacheEntry(head: found.head, body: HTTPBody(found.body))
    }

    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        // The head is visible before the body has been read.
        entries.withLock { entries in
            if entries.count > 5_000 { entries.removeAll() }
            entries[key] = (entry.head, entries[key]?.body ?? Data())
        }
        do {
            let body = try await entry.body.collect(upTo: 4_000_000)
            entries.withLock { $0[key] = (entry.head, body) }
        } catch {
            entries.withLock { $0[key] = nil }
            throw error
        }
    }

    func remove(_ key: CacheKey) { _ = entries.withLock { $0.removeValue(forKey: key) } }

    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) {
        let heads = entries.withLock { $0.mapValues(\.head) }
        let doomed = heads.filter { matches($0.value) }
        entries.withLock { entries in for key in doomed.keys { entries[key] = nil } }
    }

    func secret() -> Data { key }
}

/// The least recently used entries go first.
///
/// Mistake: the bytes of a body are counted, but neither keys nor heads.
final class BodyLimitStore: CacheStore {
    private let entries = Mutex<(table: [CacheKey: (head: CacheEntryHead, body: Data)], order: [CacheKey])>(([:], []))
    private let key = Data((0..<32).map { _ in UInt8.random(in: 0...255) })
    let limit: Int
    init(limit: Int = 20_000_000) { self.limit = limit }

    func entry(for key: CacheKey) -> CacheEntry? {
        entries.withLock { entries in
            guard let found = entries.table[key] else { return nil }
            entries.order.removeAll { $0 == key }
            entries.order.append(key)
            return CacheEntry(head: found.head, body: HTTPBody(found.body))
        }
    }

    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        let body = try await entry.body.collect(upTo: limit)
        entries.withLock { entries in
            entries.table[key] = (entry.head, body)
            entries.order.removeAll { $0 == key }
            entries.order.append(key)
            var sum = entries.table.values.reduce(0) { $0 + $1.body.count }
            while sum > limit {
                let oldest = entries.order.removeFirst()
                sum -= entries.table.removeValue(forKey: oldest)?.body.count ?? 0
            }
        }
    }

    func update(_ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey) -> Bool {
        entries.withLock { entries in
            guard entries.table[key]?.head == old else { return false }
            entries.table[key]?.head = head
            return true
        }
    }

    func remove(_ key: CacheKey) {
        entries.withLock { entries in
            entries.table[key] = nil
            entries.order.removeAll { $0 == key }
        }
    }

    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) {
        let heads = entries.withLock { $0.table.mapValues(\.head) }
        let doomed = heads.filter { matches($0.value) }
        entries.withLock { entries in
            for (key, head) in doomed where entries.table[key]?.head == head {
                entries.table[key] = nil
                entries.order.removeAll { $0 == key }
            }
        }
    }

    func secret() -> Data { key }
}

/// A file for each key, in a directory of the process.
final class DigestFileStore: CacheStore {
    private let lock = Mutex<[String: CacheEntryHead]>([:])
    private let directory: URL
    private let writes = Mutex(InFlightWrites())
    private let key = Data((0..<32).map { _ in UInt8.random(in: 0...255) })

    init() {
        directory = FileManager.default.temporaryDirectory.appending(path: "errand-later-\(UUID().uuidString)")
        do { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true) } catch {
            preconditionFailure("\(error)")
        }
    }

    deinit {
        do { try FileManager.default.removeItem(at: directory) } catch { print(error) }
    }

    private func file(_ key: CacheKey) -> URL { directory.appending(path: key.digest) }

    func entry(for key: CacheKey) throws -> CacheEntry? {
        try lock.withLock { heads in
            guard let head = heads[key.digest] else { return nil }
            return CacheEntry(head: head, body: HTTPBody(try Data(contentsOf: file(key))))
        }
    }

    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        let write = writes.withLock { $0.begin(entry.head, for: key) }
        defer { writes.withLock { $0.end(write) } }
        let body = try await entry.body.collect(upTo: 4_000_000)
        try lock.withLock { heads in
            if writes.withLock({ $0.isStopped(write) }) { return }
            try body.write(to: file(key), options: .atomic)
            heads[key.digest] = entry.head
            if heads.count > 2_000, let other = heads.keys.first(where: { $0 != key.digest }) {
                heads[other] = nil
                try FileManager.default.removeItem(at: directory.appending(path: other))
            }
        }
    }

    func remove(_ key: CacheKey) throws {
        writes.withLock { _ = $0.stop(key) }
        try lock.withLock { heads in
            if heads.removeValue(forKey: key.digest) != nil { try FileManager.default.removeItem(at: file(key)) }
        }
    }

    func update(_ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey) -> Bool {
        lock.withLock { heads in
            guard heads[key.digest] == old else { return false }
            heads[key.digest] = head
            return true
        }
    }

    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) throws {
        writes.withLock { $0.stop(where: matches) }
        let doomed = lock.withLock { $0 }.filter { matches($0.value) }
        try lock.withLock { heads in
            for (name, head) in doomed where heads[name] == head {
                heads[name] = nil
                try FileManager.default.removeItem(at: directory.appending(path: name))
            }
        }
    }

    func secret() -> Data { key }
}
