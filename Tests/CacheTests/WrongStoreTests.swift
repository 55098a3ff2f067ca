import Errand
import ErrandCache
import ErrandCacheTesting
import Foundation
import Synchronization
import Testing

@Suite("The suite for stores", .endsInTime, .leakChecked)
struct WrongStoreTests {
    enum Fault: CaseIterable {
        case removeAllLosesSecret, removeLosesSecret, constantSecret, newSecret, shortSecret
        case dropsTags, dropsPartition, dropsHeaders, roundsDates, mixesPrefixes, mixesEquivalents, mixesCase
        case truncates, cutsLongBodies, keepsTornBodies, keepsTornBodiesWhereNothingWas, forgetsEmptyBodies, readsOnce
        case removesTooMuch, removesTooLittle, removesAllButOne, ignoresRemove, refusesAfterRemoval, mixesHeads
        case updateIgnoresOld, updateChangesNothing, updateLosesBody, updateMakesEntries, racyBodies, keepsLateWrites
    }

    @Test("finds every wrong store", arguments: Fault.allCases)
    func finds(_ fault: Fault) async throws {
        var failures = 0
        for test in CacheStoreSuite.cases {
            do { try await test.run { WrongStore(fault) } } catch { failures += 1 }
        }
        #expect(failures > 0, "a store that \(fault) passes")
    }

    @Test("passes a right store", arguments: CacheStoreSuite.cases)
    func passes(_ test: CacheStoreSuite.Case) async throws { try await test.run { WrongStore(nil) } }

    enum LimitFault: CaseIterable { case none, ignoresKeys, keepsTheOldest, ignoresUse, empties }

    @Test("finds stores that do not keep to their limit", arguments: LimitFault.allCases)
    func limits(_ fault: LimitFault) async throws {
        var failures = 0
        for test in CacheStoreSuite.limitCases + CacheStoreSuite.evictionCases {
            do { try await test.run { BoundedStore(fault) } } catch { failures += 1 }
        }
        #expect((failures > 0) == (fault != .none), "a store that \(fault)")
    }

    @Test("finds a store that loses its entries when it is opened again, and a store that creates a new secret")
    func persistence() async throws {
        for test in CacheStoreSuite.persistentCases {
            await #expect(throws: CacheStoreSuite.Failure.self) { try await test.run { MemoryStore() } }
            let directory = TemporaryDirectory()
            try await test.run { DiskStore(at: directory.url) }
        }
    }

    @Test(
        "the memory store and the disk store keep to their limits",
        arguments: CacheStoreSuite.limitCases + CacheStoreSuite.evictionCases)
    func ownStores(_ test: CacheStoreSuite.Case) async throws {
        try await test.run { MemoryStore(limit: .megabytes(1)) }
        let directory = TemporaryDirectory()
        try await test.run { DiskStore(at: directory.url, limit: .megabytes(1)) }
    }

    @Test("long keys count in memory: a store of a megabyte does not hold ten")
    func keys() async throws {
        let store = MemoryStore(limit: .megabytes(1))
        let url = try #require(URL(string: "https://example.com/"))
        let long = String(repeating: "k", count: 10_000)
        for number in 0..<1000 {
            let head = CacheEntryHead(url: url, received: .now, expires: .now)
            try await store.store(CacheEntry(head: head, body: .empty), for: CacheKey("\(long)\(number)"))
        }
        #expect(store.entryCount < 100 && store.entryCount > 50 && store.byteCount <= 1_000_000)
    }
}

/// A dictionary that's correct except for one fault.
private final class WrongStore: CacheStore {
    private struct State {
        var entries: [String: (key: CacheKey, entry: CacheEntry, body: Data)] = [:]
        var secret = Data((0..<32).map { _ in UInt8.random(in: 0 ... .max) })
        var isClosed = false
        var lastHead: CacheEntryHead?
    }

    private let fault: WrongStoreTests.Fault?
    private let state = Mutex(State())
    private let writes = Mutex(InFlightWrites())

    init(_ fault: WrongStoreTests.Fault?) { self.fault = fault }

    private func name(_ key: CacheKey) -> String {
        switch fault {
        case .mixesPrefixes: String(key.text.prefix(100))
        case .mixesEquivalents: key.text
        case .mixesCase: CacheKey(key.text.lowercased()).digest
        default: key.digest
        }
    }

    private func changed(_ head: CacheEntryHead) -> CacheEntryHead? {
        guard let url = URL(string: head.url) else { return nil }
        let ignores = fault == .dropsHeaders
        switch fault {
        case .dropsTags, .dropsPartition, .dropsHeaders, .roundsDates:
            return CacheEntryHead(
                url: url,
                headers: ignores ? [:] : ["Content-Type": "text/plain", "ETag": "\"\(url.lastPathComponent)\""],
                received: head.received,
                expires: fault == .roundsDates ? head.expires + 0.5 : head.expires,
                tags: fault == .dropsTags ? [] : head.tags,
                partition: fault == .dropsPartition ? nil : head.partition)
        default: return head
        }
    }

    func entry(for key: CacheKey) async throws -> CacheEntry? {
        guard let found = state.withLock({ $0.entries[name(key)] }) else { return nil }
        if fault == .forgetsEmptyBodies && found.body.isEmpty { return nil }
        if fault == .readsOnce { return found.entry }
        let last = fault == .mixesHeads ? state.withLock { $0.lastHead } : nil
        return CacheEntry(head: last ?? found.entry.head, body: HTTPBody(found.body))
    }

    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        let write = writes.withLock { $0.begin(entry.head, for: key) }
        defer { writes.withLock { $0.end(write) } }
        var body = Data()
        do {
            for try await chunk in entry.body {
                body += chunk
                if fault == .racyBodies {
                    state.withLock { $0.entries[name(key)]?.body = body + Data([0]) }
                    await Task.yield()
                }
            }
        } catch {
            let isThere = state.withLock { $0.entries[name(key)] != nil }
            if fault == .keepsTornBodies || fault == .keepsTornBodiesWhereNothingWas && !isThere {
                keep(entry.head, body, key)
            }
            throw error
        }
        if fault == .refusesAfterRemoval, state.withLock({ $0.isClosed }) { return }
        if fault == .truncates { body = body.prefix(65_536) }
        if fault == .cutsLongBodies && body.count > 100_000 { body.removeLast() }
        keep(entry.head, body, key, write)
    }

    private func keep(_ head: CacheEntryHead, _ body: Data, _ key: CacheKey, _ write: InFlightWrites.ID? = nil) {
        let source = StreamedOnce(body)
        state.withLock { state in
            if let write, fault != .keepsLateWrites, writes.withLock({ $0.isStopped(write) }) { return }
            state.lastHead = head
            let entry = CacheEntry(head: changed(head) ?? head, body: HTTPBody(source: source))
            state.entries[name(key)] = (key, entry, body)
        }
    }

    func update(_ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey) async throws -> Bool {
        state.withLock { state in
            guard var found = state.entries[name(key)] else {
                if fault == .updateMakesEntries {
                    state.entries[name(key)] = (key, CacheEntry(head: head, body: .empty), Data())
                    return true
                }
                return false
            }
            if fault != .updateIgnoresOld && found.entry.head != old { return false }
            if fault == .updateChangesNothing { return true }
            found.entry.head = head
            if fault == .updateLosesBody { found.body = Data() }
            state.entries[name(key)] = found
            return true
        }
    }

    func remove(_ key: CacheKey) async throws {
        writes.withLock { _ = $0.stop(key) }
        state.withLock { state in
            if fault == .removeLosesSecret { state.secret = Data((0..<32).map { _ in UInt8.random(in: 0 ... .max) }) }
            state.isClosed = true
            if fault != .ignoresRemove { state.entries[name(key)] = nil }
        }
    }

    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws {
        writes.withLock { $0.stop(where: matches) }
        state.withLock { state in
            if fault == .removeAllLosesSecret {
                state.secret = Data((0..<32).map { _ in UInt8.random(in: 0 ... .max) })
            }
            state.isClosed = true
            var isFirst = true
            for (name, value) in state.entries {
                switch fault {
                case .removesTooMuch: state.entries[name] = nil
                case .removesTooLittle: if !value.entry.head.tags.isEmpty { state.entries[name] = nil }
                case .removesAllButOne where isFirst && matches(value.entry.head): isFirst = false
                default: if matches(value.entry.head) { state.entries[name] = nil }
                }
            }
        }
    }

    func secret() async throws -> Data {
        switch fault {
        case .constantSecret: Data(count: 32)
        case .newSecret: Data((0..<32).map { _ in UInt8.random(in: 0 ... .max) })
        case .shortSecret: state.withLock { $0.secret.prefix(8) }
        default: state.withLock { $0.secret }
        }
    }
}

/// A stream that's already consumed for its second reader.
private final class StreamedOnce: HTTPBodySource {
    private let rest: Mutex<Data?>
    init(_ data: Data) { rest = Mutex(data) }
    func nextChunk() async throws -> Data? {
        rest.withLock { rest in
            defer { rest = nil }
            return rest?.isEmpty == true ? nil : rest
        }
    }
    func cancel() {}
}

/// A store of 1,000,000 bytes that enforces its limit in a faulty way.
private final class BoundedStore: CacheStore {
    private let fault: WrongStoreTests.LimitFault
    private let items = Mutex<[(key: CacheKey, entry: CacheEntry)]>([])

    init(_ fault: WrongStoreTests.LimitFault) { self.fault = fault }

    private func cost(_ item: (key: CacheKey, entry: CacheEntry)) -> Int {
        let body = Int(item.entry.body.length ?? 0)
        return fault == .ignoresKeys ? body : body + item.key.text.utf8.count + item.entry.head.encoded().count
    }

    func entry(for key: CacheKey) async throws -> CacheEntry? {
        items.withLock { items in
            guard let index = items.firstIndex(where: { $0.key == key }) else { return nil }
            if fault == .ignoresUse { return items[index].entry }
            let item = items.remove(at: index)
            items.append(item)
            return item.entry
        }
    }

    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        let body = HTTPBody(try await entry.body.collect(upTo: 1 << 24))
        items.withLock { items in
            items.removeAll { $0.key == key }
            if fault != .empties && (body.length ?? 0) > 1_000_000 { return }
            items.append((key, CacheEntry(head: entry.head, body: body)))
            while items.reduce(0, { $0 + cost($1) }) > 1_000_000 {
                switch fault {
                case .empties: items.removeAll()
                case .keepsTheOldest: items.removeLast()
                default: items.removeFirst()
                }
            }
        }
    }

    func remove(_ key: CacheKey) async throws { items.withLock { $0.removeAll { $0.key == key } } }
    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws {
        items.withLock { $0.removeAll { matches($0.entry.head) } }
    }
    func secret() async throws -> Data { Data(0..<32) }
}
