import ErrandCache
import ErrandCacheTesting
import Testing

/// Stores that were written without sight of the suite.
@Suite("The suite judges stores with unexpected designs", .endsInTime)
struct UnseenStoreTests {
    private static let wrong: [(String, [CacheStoreSuite.Case], @Sendable () throws -> any CacheStore)] = [
        ("TextKeyStore", CacheStoreSuite.cases, { TextKeyStore() }),
        ("NewSecretStore", CacheStoreSuite.cases, { NewSecretStore() }),
        ("SharedReadStore", CacheStoreSuite.laws(), { SharedReadStore() }),
        ("OverwritingStore", CacheStoreSuite.laws(), { try OverwritingStore() }),
        ("BodyLimitStore", CacheStoreSuite.limitCases + CacheStoreSuite.evictionCases, { BodyLimitStore() }),
        ("DriftingStore", CacheStoreSuite.limitCases + CacheStoreSuite.evictionCases, { DriftingStore() }),
    ]

    @Test("the suite refuses a wrong store", arguments: wrong.indices)
    func refused(index: Int) async throws {
        let (name, cases, make) = Self.wrong[index]
        var failures: [String] = []
        for each in cases where failures.isEmpty {
            do { try await each.run(make) } catch { failures.append("\(each): \(error)") }
        }
        #expect(!failures.isEmpty, "\(name)")
    }

    @Test("the suite accepts a correct store", arguments: CacheStoreSuite.cases)
    func right(each: CacheStoreSuite.Case) async throws {
        try await each.run { TwoGenerationStore(generation: 5_000_000) }
    }

    @Test(
        "the suite accepts a correct store with a limit",
        arguments: CacheStoreSuite.limitCases + CacheStoreSuite.evictionCases)
    func rightLimit(each: CacheStoreSuite.Case) async throws { try await each.run { TwoGenerationStore() } }
}
