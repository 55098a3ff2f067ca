import Errand
import ErrandCache
import ErrandCacheTesting
import ErrandConformance
import Testing

/// A wrong filter, with the law that refuses it and the exchanges that show its mistake.
struct LaterWrongFilter: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let law: FilterLaw
    let exchanges: [LawExchange]
    let make: @Sendable () -> any Filter

    init(_ name: String, _ law: FilterLaw, _ exchanges: LawExchange..., make: @escaping @Sendable () -> any Filter) {
        (testDescription, self.law, self.exchanges, self.make) = (name, law, exchanges, make)
    }

    /// Expects that the law refuses the filter.
    func expectRefusal() async {
        let failure = await #expect(throws: ConformanceFailure.self) { try await law.check(make, all: exchanges) }
        #expect(failure?.name == law.name)
    }

    private static let home = "https://conformance.example/v1"
    private static let tag: HTTPHeaders = [.entityTag: "\"1\""]

    static let all: [LaterWrongFilter] = [
        LaterWrongFilter("SortedSignature", .request, LawExchange(.get, "\(home)/a?b=2&a=1")) {
            SortedSignature(key: "later-key-1")
        },
        LaterWrongFilter(
            "AnyLanguage", .count, LawExchange(.put, body: .text("law"), replies: [LawReply(503), LawReply()])
        ) {
            AnyLanguage(languages: "de, en")
        },
        LaterWrongFilter("QuietProgress", .bystanders, LawExchange()) { QuietProgress() },
        LaterWrongFilter(
            "TokenRefresh", .separation, LawExchange(),
            LawExchange(.get, "https://other.example/v1/a", replies: [LawReply(401), LawReply()])
        ) { TokenRefresh() },
        LaterWrongFilter(
            "TagMemory", .distinction,
            LawExchange(.get, "\(home)/a", replies: [LawReply(headers: tag, body: .text("law-first"))]),
            LawExchange(.get, "\(home)/A", replies: [LawReply(headers: tag, body: .text("law-second"))])
        ) { TagMemory() },
        LaterWrongFilter("MinuteMemory", .separation, LawExchange(), LawExchange()) { MinuteMemory() },
        LaterWrongFilter(
            "BeginningNote", .response,
            LawExchange(
                isStreamed: true,
                replies: [LawReply(headers: [.contentType: "text/plain"], body: .stream(["a", "b"]))])
        ) { BeginningNote() },
        LaterWrongFilter(
            "MaintenanceMark", .response,
            LawExchange(replies: [LawReply(503, headers: ["Warning": "199 - a", "Warning": "299 - b"])])
        ) { MaintenanceMark() },
        LaterWrongFilter("TwoPerHost", .concurrency, LawExchange()) { TwoPerHost() },
        LaterWrongFilter("BusyDate", .time, LawExchange(replies: [LawReply(503)])) { BusyDate() },
        LaterWrongFilter("SlowNote", .release, LawExchange(replies: [LawReply(failure: .connectionLost)])) {
            SlowNote()
        },
    ]
}

/// Plugins that were written after the laws, without sight of them, by somebody who only knew the pages of `docs`.
@Suite("Later plugins are judged by the laws", .endsInTime)
struct LaterPluginTests {
    @Test("a law refuses a wrong filter", arguments: LaterWrongFilter.all)
    func wrong(each: LaterWrongFilter) async throws {
        await each.expectRefusal()
    }

    @Test("no law refuses a right filter", arguments: LaterPlugins.filters.filter { !$0.isWrong })
    func right(later: FreshFilter) async throws {
        try await FilterConformance.checkLaws(for: later.make, secrets: later.secrets)
    }

    @Test("a law refuses an accessory that writes the fields of interim responses and of trailers")
    func wireLines() async throws {
        await #expect(throws: ConformanceFailure.self) {
            try await AccessoryConformance.check({ WireLines() }, output: { $0.text }, LawExchange())
        }
        try await AccessoryConformance.check({ ShortLog() }, output: { $0.text }, LawExchange())
    }

    @Test("a case refuses an accessory whose task outlives a failed call")
    func lateWarnings() async throws {
        let cases = AccessoryConformance.cases(
            for: { LateWarnings() }, within: .seconds(60), gracePeriod: .milliseconds(300))
        let each = try #require(cases.first { $0.name == "a task that the accessory starts ends after the call" })
        await #expect(throws: ConformanceFailure.self) { try await each.run() }
    }

    @Test("no law refuses a right accessory", arguments: LaterPlugins.accessories.filter { !$0.isWrong })
    func right(later: FreshAccessory) async throws {
        for each in later.cases(.seconds(300)) where each.name.hasPrefix("law: ") { try await each.run() }
    }

    @Test("the suite rejects a wrong store, and accepts a correct store", arguments: LaterPlugins.stores)
    func stores(later: FreshStore) async throws {
        var failures: [String] = []
        for each in CacheStoreSuite.cases {
            do { try await each.run { later.make() } } catch { failures.append("\(each): \(error)") }
        }
        #expect(failures.isEmpty != later.isWrong, "\(failures)")
    }

    @Test("a case refuses a store whose limit counts only bodies")
    func limit() async throws {
        let each = try #require(CacheStoreSuite.evictionCases.first { "\($0)" == "the limit counts heads and keys" })
        await #expect(throws: CacheStoreSuite.Failure.self) {
            try await each.run { BodyLimitStore(limit: 1_000_000) }
        }
        try await each.run { ShardedStore(limit: 1_000_000) }
    }
}
