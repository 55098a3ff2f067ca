import Errand
import ErrandCache
import ErrandCacheTesting
import Foundation
import Testing

/// Mistakes that concern several entries of a URL, several stores, or a storage that is opened again.
@Suite("The suite judges stores with variants, and several stores", .endsInTime, .leakChecked)
struct VariantStoreTests {
    private static let law = "law: entries that share a URL, tags or a head are separate entries"
    private static let similar =
        "keys that resemble each other have separate entries, which are updated and removed alone"
    private static let opened = "stores that are opened one after another all work, and are released"
    private static let updated =
        "an updated head persists with its body, and entries that share its URL stay as they were"

    /// The cases that catch each mistake. The first one by name always does.
    private static let refusals: [(VariantStore.Mistake, Set<String>)] = [
        (.updatesByURL, [law, similar]), (.updatesEqualHeads, [law, similar]), (.removesByPattern, [law, similar]),
        (.comparesNumbers, [law, similar]), (.comparesFolded, [law, similar]), (.cutsKeys, [law, similar]),
        (.losesLongHeads, ["a head of 100,000 bytes is stored, replaced and judged"]),
        (.sharesTemporary, ["concurrent writes of a key never combine the head of one with the body of another"]),
        (.rewritesAll, ["entries that are stored during a removal by predicate are kept, unless they match"]),
    ]

    @Test("only its case refuses a wrong store", arguments: refusals.indices)
    func refused(index: Int) async throws {
        let (mistake, names) = Self.refusals[index]
        let failures = await Self.failures(CacheStoreSuite.cases) { VariantStore(Shelf(), mistake) }
        #expect(!failures.isEmpty && failures.isSubset(of: names), "\(mistake): \(failures)")
        if let name = names.sorted().first { #expect(failures.contains(name), "\(mistake): \(failures)") }
    }

    private static let limited: [(VariantStore.Mistake, String)] = [
        (.evictsByDate, "the entries that were stored last are kept, even if the clock is set back"),
        (.forgetsNewSize, "the limit counts the heads after an update"),
    ]

    @Test("only its case refuses a store that breaks its limit", arguments: limited.indices)
    func limits(index: Int) async throws {
        let (mistake, name) = Self.limited[index]
        let cases = CacheStoreSuite.limitCases + CacheStoreSuite.evictionCases
        let failures = await Self.failures(cases) { VariantStore(Shelf(), mistake, limit: 1_000_000) }
        #expect(failures == [name], "\(mistake)")
    }

    private static let persistent: [(VariantStore.Mistake, Set<String>)] = [
        (.writesInPlace, ["an interrupted write leaves a whole entry when the storage is opened again"]),
        (.updatesInMemory, [updated]),
        (.readsLastSegments, ["each of many stores on one storage finds the entries of the earlier ones"]),
        (.makesSecretTwice, ["stores that use one storage at the same time don't fail, and don't mix entries"]),
    ]

    @Test("only its case refuses a store that loses what it has stored", arguments: persistent.indices)
    func persistence(index: Int) async throws {
        let (mistake, names) = Self.persistent[index]
        var failures: Set<String> = []
        for each in CacheStoreSuite.persistentCases {
            let shelf = Shelf()
            failures.formUnion(await Self.failures([each]) { VariantStore(shelf, mistake) })
        }
        #expect(failures == names, "\(mistake)")
    }

    private static let shared: [(VariantStore.Mistake, String)] = [
        (.sharesWrites, "what one store does while another one writes doesn't affect that write"),
        (.sharesBudget, "stores with separate storage don't share entries, limits or heads"),
    ]

    @Test("a case refuses stores that share a state", arguments: shared.indices)
    func sharing(index: Int) async throws {
        let (mistake, name) = Self.shared[index]
        let failures = await Self.failures(CacheStoreSuite.isolationCases) {
            VariantStore(Shelf(), mistake, limit: 1_000_000)
        }
        #expect(failures.contains(name), "\(mistake): \(failures)")
    }

    @Test("stores that may drop entries must not share their storage")
    func sharedStorage() async {
        let shelf = Shelf()
        let failures = await Self.failures(CacheStoreSuite.droppingIsolationCases) { VariantStore(shelf) }
        #expect(!failures.isEmpty)
    }

    @Test("only its case refuses a store that stays in memory")
    func immortal() async throws {
        let leaks = Leaks()
        let failures = await Self.failures(CacheStoreSuite.cases) {
            let store = VariantStore()
            leaks.keep(store)
            return store
        }
        #expect(failures == [Self.opened])
    }

    #if os(Linux)
    @Test("only its case refuses a store that leaves its file open")
    func files() async throws {
        let (leaks, directory) = (Leaks(), TemporaryDirectory())
        try FileManager.default.createDirectory(at: directory.url, withIntermediateDirectories: true)
        let file = directory.url.appending(path: "journal")
        try Data("journal".utf8).write(to: file)
        let failures = await Self.failures(CacheStoreSuite.cases) {
            try leaks.open(file)
            return VariantStore()
        }
        #expect(failures == [Self.opened])
    }
    #endif

    @Test("the suite accepts a correct store", arguments: CacheStoreSuite.cases + CacheStoreSuite.droppingCases)
    func right(each: CacheStoreSuite.Case) async throws { try await each.run { VariantStore() } }

    @Test("the suite accepts one store for all entries of a test", arguments: CacheStoreSuite.cases)
    func single(each: CacheStoreSuite.Case) async throws {
        let store = VariantStore()
        try await each.run { store }
    }

    @Test(
        "the suite accepts a correct store with a limit",
        arguments: CacheStoreSuite.limitCases + CacheStoreSuite.evictionCases)
    func rightLimits(each: CacheStoreSuite.Case) async throws {
        try await each.run { VariantStore(limit: 1_000_000) }
    }

    @Test("the suite accepts correct stores that share a shelf", arguments: CacheStoreSuite.persistentCases)
    func rightPersistence(each: CacheStoreSuite.Case) async throws {
        let shelf = Shelf()
        try await each.run { VariantStore(shelf) }
    }

    @Test("stores with separate storage are isolated", arguments: CacheStoreSuite.isolationCases)
    func isolated(each: CacheStoreSuite.Case) async throws {
        try await each.run { VariantStore() }
        try await each.run { MemoryStore(limit: .megabytes(1)) }
        let directory = TemporaryDirectory()
        try await each.run {
            DiskStore(at: directory.url.appending(path: UUID().uuidString), limit: .megabytes(1))
        }
        try await each.run {
            TieredStore(
                MemoryStore(limit: .megabytes(1)), DiskStore(at: directory.url.appending(path: UUID().uuidString)))
        }
    }

    private static func failures(
        _ cases: [CacheStoreSuite.Case], _ make: () async throws -> any CacheStore
    ) async -> Set<String> {
        var failures: Set<String> = []
        for each in cases {
            do { try await each.run(make) } catch {
                failures.insert(each.description)
            }
        }
        return failures
    }
}
