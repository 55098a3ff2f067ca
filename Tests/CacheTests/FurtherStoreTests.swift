import Errand
import ErrandCache
import ErrandCacheTesting
import Foundation
import Testing

/// A dictionary with one of several mistakes.
actor FaultyDictionary: CacheStore {
    enum Fault: Sendable, CaseIterable { case racingSecret, oldHeads, lateWrites, countsReplaced }

    private let fault: Fault?
    private let limit: Int
    private var entries: [CacheKey: CacheEntry] = [:]
    private var heads: [CacheKey: CacheEntryHead] = [:]
    private var bytes = 0
    private var key: Data?
    private var writes = InFlightWrites()

    init(_ fault: Fault?, limit: Int = .max) { (self.fault, self.limit) = (fault, limit) }

    func entry(for key: CacheKey) -> CacheEntry? { entries[key] }

    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        let write = writes.begin(entry.head, for: key)
        defer { writes.end(write) }
        let data = try await entry.body.collect(upTo: 1_000_000)
        if writes.isStopped(write) { return }
        let whole = CacheEntry(head: entry.head, body: HTTPBody(data))
        if fault != .countsReplaced { bytes -= entries[key].flatMap { $0.body.data?.count } ?? 0 }
        if bytes + data.count > limit { (entries, heads, bytes) = ([:], [:], 0) }
        (entries[key], heads[key]) = (whole, whole.head)
        bytes += data.count
        if fault == .lateWrites {
            // Imitates a store that writes its file late: an entry that was removed in the meantime appears again.
            Task {
                try? await Task.sleep(for: .milliseconds(5))
                self.entries[key] = self.entries[key] ?? whole
                self.heads[key] = whole.head
            }
        }
    }

    func update(_ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey) -> Bool {
        guard let entry = entries[key], entry.head == old else { return false }
        entries[key] = CacheEntry(head: head, body: entry.body)
        if fault != .oldHeads { heads[key] = head }
        return true
    }

    func remove(_ key: CacheKey) {
        writes.stop(key)
        bytes -= entries[key].flatMap { $0.body.data?.count } ?? 0
        (entries[key], heads[key]) = (nil, nil)
    }

    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) {
        writes.stop(where: matches)
        for (key, head) in heads where matches(head) { remove(key) }
    }

    func secret() async -> Data {
        if let key { return key }
        if fault == .racingSecret { try? await Task.sleep(for: .milliseconds(2)) }
        let made = Data((0..<32).map { _ in UInt8.random(in: 0 ... .max) })
        key = made
        return made
    }
}

/// Keeps only one entry. The wrong form returns it for every key.
actor OnlyTheLast: CacheStore {
    private let comparesKeys: Bool
    private var last: (key: CacheKey, entry: CacheEntry)?
    private var writes = InFlightWrites()
    private let key = Data((0..<32).map { _ in UInt8.random(in: 0 ... .max) })

    init(comparesKeys: Bool) { self.comparesKeys = comparesKeys }

    private func isLast(_ key: CacheKey) -> Bool { last.map { !comparesKeys || $0.key == key } ?? false }

    func entry(for key: CacheKey) -> CacheEntry? { isLast(key) ? last?.entry : nil }

    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        let write = writes.begin(entry.head, for: key)
        defer { writes.end(write) }
        let data = try await entry.body.collect(upTo: 4_000_000)
        if writes.isStopped(write) { return }
        last = (key, CacheEntry(head: entry.head, body: HTTPBody(data)))
    }

    func remove(_ key: CacheKey) {
        writes.stop(key)
        if isLast(key) { last = nil }
    }

    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) {
        writes.stop(where: matches)
        if let head = last?.entry.head, matches(head) { last = nil }
    }

    func secret() -> Data { key }
}

/// Drops every entry at once, and never suspends.
final class NoRoom: CacheStore {
    func entry(for key: CacheKey) -> CacheEntry? { nil }
    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        _ = try await entry.body.collect(upTo: 4_000_000)
    }
    func remove(_ key: CacheKey) {}
    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) {}
    func secret() -> Data { Data(0..<32) }
}

/// A dictionary whose `remove` throws an error.
final class FailingRemoval: CacheStore {
    struct NoPermission: Error, CustomStringConvertible { let description = "a file can't be deleted" }
    private let base = FaultyDictionary(nil)

    func entry(for key: CacheKey) async throws -> CacheEntry? { await base.entry(for: key) }
    func store(_ entry: CacheEntry, for key: CacheKey) async throws { try await base.store(entry, for: key) }
    func update(_ head: CacheEntryHead, replacing old: CacheEntryHead, for key: CacheKey) async throws -> Bool {
        try await base.update(head, replacing: old, for: key)
    }
    func remove(_ key: CacheKey) async throws { throw NoPermission() }
    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws {
        await base.removeAll(where: matches)
    }
    func secret() async throws -> Data { await base.secret() }
}

@Suite("Stores that race, write late, or have little room are judged by the suite", .endsInTime)
struct FurtherStoreTests {
    private func failures(
        _ cases: [CacheStoreSuite.Case], _ make: @Sendable () -> any CacheStore
    ) async -> [String] {
        var failures: [String] = []
        for each in cases {
            do { try await each.run(make) } catch { failures.append("\(each): \(error)") }
        }
        return failures
    }

    private static let refusals: [(FaultyDictionary.Fault, String)] = [
        (.racingSecret, "concurrent first calls get the same secret"),
        (.oldHeads, "after an update, a predicate judges the new head"),
        (.oldHeads, "law: consecutive operations have the same results as a dictionary"),
        (.lateWrites, "a removed entry doesn't come back, even if its body was still being written"),
    ]

    @Test("a case refuses a wrong store", arguments: refusals.indices)
    func wrong(index: Int) async throws {
        let (fault, name) = Self.refusals[index]
        let each = try #require(CacheStoreSuite.cases.first { $0.description == name })
        await #expect(throws: CacheStoreSuite.Failure.self) { try await each.run { FaultyDictionary(fault) } }
        try await each.run { FaultyDictionary(nil) }
    }

    private static let lawsThatRemove = CacheStoreSuite.laws().filter { !$0.description.contains("stored last") }

    @Test("an error of the store in a law is reported with the law and the operation", arguments: lawsThatRemove)
    func errors(each: CacheStoreSuite.Case) async throws {
        let failure = await #expect(throws: CacheStoreSuite.Failure.self) { try await each.run { FailingRemoval() } }
        let text = failure?.description ?? ""
        #expect(text.hasPrefix("\(each): the store threw a file can't be deleted, in: "), "\(text)")
        #expect(text.contains("remove"), "\(text)")
        let isRandom = each.description.contains("operations")
        #expect(text.contains("@Test func keepsLaw()") == isRandom, "\(text)")
    }

    @Test("the cases for limits don't demand an order, but that replaced entries don't count")
    func limits() async {
        let wrong = await failures(CacheStoreSuite.limitCases) { FaultyDictionary(.countsReplaced, limit: 1_000_000) }
        #expect(wrong.count == 1 && wrong[0].hasPrefix("replaced, removed and failed entries"), "\(wrong)")
        #expect(await failures(CacheStoreSuite.limitCases) { FaultyDictionary(nil, limit: 1_000_000) } == [])
        #expect(await failures(CacheStoreSuite.evictionCases) { FaultyDictionary(nil, limit: 1_000_000) } != [])
    }

    @Test("a store with room for one entry passes the cases for stores that drop entries, unless it confuses them")
    func dropping() async {
        #expect(await failures(CacheStoreSuite.droppingCases) { OnlyTheLast(comparesKeys: true) } == [])
        #expect(await failures(CacheStoreSuite.droppingCases) { OnlyTheLast(comparesKeys: false) } != [])
        #expect(await failures(CacheStoreSuite.droppingCases) { MemoryStore() } == [])
        #expect(await failures(CacheStoreSuite.droppingCases) { NoRoom() } == [])
        #expect(await failures(CacheStoreSuite.isolationCases) { NoRoom() } != [])
        #expect(await failures(CacheStoreSuite.droppingIsolationCases) { NoRoom() } == [])
        #expect(await failures(CacheStoreSuite.droppingIsolationCases) { OnlyTheLast(comparesKeys: true) } == [])
        for fault in FaultyDictionary.Fault.allCases where fault != .countsReplaced {
            #expect(await failures(CacheStoreSuite.droppingCases) { FaultyDictionary(fault) } != [], "\(fault)")
        }
        let missing = await failures(CacheStoreSuite.cases) { OnlyTheLast(comparesKeys: true) }
        #expect(missing.count { $0.contains("droppingCases") } == 1)
    }

    @Test("a case rejects a store that loses its first secret in a race, even after it's reopened")
    func persistence() async throws {
        let each = try #require(
            CacheStoreSuite.persistentCases.first { $0.description == "a secret from concurrent first calls persists" })
        let shared = FaultyDictionary(.racingSecret)
        await #expect(throws: CacheStoreSuite.Failure.self) { try await each.run { shared } }
        let right = FaultyDictionary(nil)
        try await each.run { right }
    }
}
