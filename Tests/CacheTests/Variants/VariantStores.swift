import Errand
import ErrandCache
import Foundation
import Synchronization

/// The storage of ``VariantStore``, in place of a file or a database.
final class Shelf: Sendable {
    struct Record {
        var head: Data
        var body: Data
        var size: Int
        var used: Int
        var segment: Int
    }

    struct State {
        var records: [CacheKey: Record] = [:]
        var secret: Data?
        var clock = 0
        var segments = 0
        var bytes = 0
        /// Heads that only the memory of a store has.
        var temporary: [CacheKey: Data] = [:]
    }

    let state = Mutex(State())
}

/// A store on a ``Shelf``. It's correct except for one mistake.
final class VariantStore: CacheStore {
    enum Mistake: CaseIterable {
        // Found by cases of one store.
        case updatesByURL, updatesEqualHeads, removesByPattern, comparesNumbers, comparesFolded, cutsKeys
        case losesLongHeads, sharesTemporary, rewritesAll
        // Found by limits.
        case evictsByDate, forgetsNewSize
        // Found if the storage is opened again.
        case writesInPlace, updatesInMemory, readsLastSegments, makesSecretTwice
        // Found by several stores.
        case sharesWrites, sharesBudget
    }

    private final class Writes: Sendable {
        let all = Mutex(InFlightWrites())
    }

    private static let sharedWrites = Writes()
    private static let sharedBytes = Mutex(0)

    private let shelf: Shelf
    private let mistake: Mistake?
    private let limit: Int
    private let writes: Writes
    private let heads = Mutex<[CacheKey: Data]>([:])
    private let segment: Int
    private let creation = Mutex<Task<Data, Never>?>(nil)

    init(_ shelf: Shelf = Shelf(), _ mistake: Mistake? = nil, limit: Int = 5_000_000) {
        (self.shelf, self.mistake, self.limit) = (shelf, mistake, limit)
        writes = mistake == .sharesWrites ? Self.sharedWrites : Writes()
        segment = shelf.state.withLock { state in
            state.segments += 1
            return state.segments
        }
    }

    private func stored(_ key: CacheKey) -> CacheKey {
        switch mistake {
        case .comparesNumbers: Double(key.text).map { CacheKey("\($0)") } ?? key
        case .comparesFolded: CacheKey(key.text.replacing("\u{DF}", with: "ss"))
        case .cutsKeys: CacheKey(String(key.text.unicodeScalars.suffix(550)))
        default: key
        }
    }

    private static func size(_ key: CacheKey, _ head: Data, _ body: Data) -> Int {
        body.count + 2 * head.count + key.text.utf8.count + 500
    }

    // MARK: Reading

    func entry(for key: CacheKey) async throws -> CacheEntry? {
        let key = stored(key)
        let record = shelf.state.withLock { state -> Shelf.Record? in
            guard var record = state.records[key] else { return nil }
            if mistake == .readsLastSegments, record.segment + 8 < segment { return nil }
            state.clock += 1
            record.used = state.clock
            state.records[key] = record
            return record
        }
        guard let record else { return nil }
        let newer = mistake == .updatesInMemory ? heads.withLock { $0[key] } : nil
        return CacheEntryHead(encoded: newer ?? record.head).map { CacheEntry(head: $0, body: HTTPBody(record.body)) }
    }

    // MARK: Writing

    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        let write = writes.all.withLock { $0.begin(entry.head, for: key) }
        defer { writes.all.withLock { $0.end(write) } }
        let (place, head) = (stored(key), entry.head.encoded())
        let old = shelf.state.withLock { $0.records[place] }
        var body = Data()
        var isFirst = true
        do {
            for try await chunk in entry.body {
                body += chunk
                if mistake == .writesInPlace { put(place, head, body) }
                if mistake == .sharesTemporary {
                    let isNew = isFirst
                    shelf.state.withLock {
                        $0.temporary[place] = (isNew ? Data() : $0.temporary[place] ?? Data()) + chunk
                    }
                    if body.count > 4_000 { await Task.yield() }
                }
                isFirst = false
            }
        } catch {
            if mistake == .writesInPlace { shelf.state.withLock { $0.records[place] = old } }
            throw error
        }
        if mistake == .losesLongHeads, head.count > 65_535 { return }
        if writes.all.withLock({ $0.isStopped(write) }) {
            if mistake == .writesInPlace { shelf.state.withLock { $0.records[place] = nil } }
            return
        }
        if mistake == .sharesTemporary, body.count > 4_000 {
            body = shelf.state.withLock { $0.temporary[place] } ?? body
        }
        heads.withLock { $0[place] = nil }
        put(place, head, body)
    }

    private func put(_ key: CacheKey, _ head: Data, _ body: Data) {
        let size = Self.size(key, head, body)
        let isShared = mistake == .sharesBudget
        shelf.state.withLock { state in
            if let old = state.records.removeValue(forKey: key) { free(old, &state) }
            if size > limit / 4 { return }
            var total = isShared ? Self.sharedBytes.withLock { $0 } : state.bytes
            while total + size > limit, let victim = victim(state) {
                guard let record = state.records.removeValue(forKey: victim) else { break }
                free(record, &state)
                total -= record.size
            }
            state.clock += 1
            state.records[key] = Shelf.Record(
                head: head, body: body, size: size, used: state.clock, segment: segment)
            state.bytes += size
            if isShared { Self.sharedBytes.withLock { $0 += size } }
        }
    }

    private func free(_ record: Shelf.Record, _ state: inout Shelf.State) {
        state.bytes -= record.size
        if mistake == .sharesBudget { Self.sharedBytes.withLock { $0 -= record.size } }
    }

    private func victim(_ state: Shelf.State) -> CacheKey? {
        if mistake == .evictsByDate {
            return state.records.min { left, right in
                let dates = [left, right].map { CacheEntryHead(encoded: $0.value.head)?.received ?? .distantPast }
                return dates[0] == dates[1] ? left.value.used < right.value.used : dates[0] < dates[1]
            }?.key
        }
        return state.records.min { $0.value.used < $1.value.used }?.key
    }

    func update(_ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey) async throws -> Bool {
        let (place, new, expected) = (stored(key), head.encoded(), old.encoded())
        if mistake == .updatesInMemory {
            let current = heads.withLock { $0[place] } ?? shelf.state.withLock { $0.records[place]?.head }
            guard current == expected else { return false }
            heads.withLock { $0[place] = new }
            return true
        }
        if mistake == .losesLongHeads, new.count > 65_535 { return true }
        return shelf.state.withLock { state in
            guard state.records[place]?.head == expected else { return false }
            for (other, var record) in state.records {
                let isOwn = other == place
                let hasURL = CacheEntryHead(encoded: record.head)?.url == old.url
                let isMeant =
                    isOwn || mistake == .updatesByURL && hasURL
                    || mistake == .updatesEqualHeads && record.head == expected
                if !isMeant { continue }
                record.head = new
                if mistake != .forgetsNewSize {
                    state.bytes -= record.size
                    record.size = Self.size(other, new, record.body)
                    state.bytes += record.size
                }
                state.records[other] = record
            }
            while state.bytes > limit, let victim = victim(state), victim != place {
                if let record = state.records.removeValue(forKey: victim) { free(record, &state) }
            }
            return true
        }
    }

    // MARK: Removing

    func remove(_ key: CacheKey) async throws {
        writes.all.withLock { _ = $0.stop(key) }
        let place = stored(key)
        shelf.state.withLock { state in
            for other in Array(state.records.keys) {
                let isMeant =
                    mistake == .removesByPattern
                    ? Self.matches(other.text.unicodeScalars[...], place.text.unicodeScalars[...]) : other == place
                if isMeant, let record = state.records.removeValue(forKey: other) { free(record, &state) }
            }
        }
    }

    /// Compares a text with a pattern, as the operator GLOB of SQLite does.
    private static func matches(_ text: Substring.UnicodeScalarView, _ pattern: Substring.UnicodeScalarView) -> Bool {
        guard let first = pattern.first else { return text.isEmpty }
        let rest = pattern.dropFirst()
        if first == "*" { return matches(text, rest) || !text.isEmpty && matches(text.dropFirst(), pattern) }
        guard let next = text.first else { return false }
        return (first == "?" || first == next) && matches(text.dropFirst(), rest)
    }

    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws {
        writes.all.withLock { $0.stop(where: matches) }
        if mistake == .rewritesAll {
            let old = shelf.state.withLock { $0.records }
            let kept = old.filter { CacheEntryHead(encoded: $0.value.head).map { !matches($0) } ?? false }
            for _ in 0..<10 { await Task.yield() }
            shelf.state.withLock { $0.records = kept }
            return
        }
        let newer = mistake == .updatesInMemory ? heads.withLock { $0 } : [:]
        shelf.state.withLock { state in
            for (key, record) in state.records {
                guard let head = CacheEntryHead(encoded: newer[key] ?? record.head), matches(head) else { continue }
                state.records[key] = nil
                free(record, &state)
            }
        }
    }

    // MARK: The secret

    func secret() async throws -> Data {
        if mistake == .makesSecretTwice {
            if let secret = shelf.state.withLock({ $0.secret }) { return secret }
            // One task for each store, although several stores can share a shelf.
            let task = creation.withLock { creation in
                let task =
                    creation
                    ?? Task {
                        for _ in 0..<20 { await Task.yield() }
                        let secret = Self.random()
                        shelf.state.withLock { $0.secret = secret }
                        return secret
                    }
                creation = task
                return task
            }
            return await task.value
        }
        return shelf.state.withLock { state in
            let secret = state.secret ?? Self.random()
            state.secret = secret
            return secret
        }
    }

    private static func random() -> Data { Data((0..<32).map { _ in UInt8.random(in: 0 ... .max) }) }
}

/// Keeps what wrong stores leak, and releases it after a test.
final class Leaks: Sendable {
    private let stores = Mutex<[any CacheStore]>([])
    private let files = Mutex<[FileHandle]>([])

    func keep(_ store: any CacheStore) { stores.withLock { $0.append(store) } }

    func open(_ file: URL) throws {
        let handle = try FileHandle(forReadingFrom: file)
        files.withLock { $0.append(handle) }
    }
}
