import Errand
import ErrandConformance
import ErrandTesting
import Testing

/// Plugins whose mistake belongs to a kind that other plugins could have as well.
@Suite("Plugins with a kind of mistake are judged by the laws", .endsInTime, .serialized)
struct KindPluginTests {
    private static let home = "https://conformance.example/v1"
    private static let template = LawTag(URLTemplate.self, "/v1/{law}")
    private static func read(_ path: String, _ text: String) -> LawExchange {
        LawExchange(.get, "\(home)/\(path)", tags: [template], replies: [LawReply(body: .text(text))])
    }

    private static let filters: [(FilterLaw, [LawExchange], @Sendable (_ isRight: Bool) -> any Filter)] = [
        (.request, [LawExchange(tags: [template])], { PathNames(keepsNames: $0) }),
        (
            .request, [LawExchange(headers: ["X-Law-A": "1"], tags: [LawTag(Area.self, "cart")])],
            { AreaHeader(addsField: $0) }
        ),
        (.distinction, [read("a", "law-first"), read("b", "law-second")], { MinuteCopies(usesURL: $0) }),
        (
            .live,
            [
                LawExchange(
                    isStreamed: true, tags: [LawTag(LiveStream.self, true)],
                    replies: [LawReply(body: .stream(["a", "b"]))])
            ],
            { StreamCopies(skipsLive: $0) }
        ),
        (.ending, [LawExchange()], { Refreshed(detaches: $0) }),
        (
            .separation, [LawExchange(), LawExchange(.get, "https://conformance.example.law.example/v1/a")],
            { ServiceToken(base: "https://conformance.example", comparesOrigin: $0) }
        ),
        (.setback, [LawExchange()], { Tenths(usesClock: $0) }),
        (
            .distinction, [LawExchange(.post, body: .bytes([0xFF])), LawExchange(.post, body: .bytes([0xFE]))],
            { TrimmedBody(removesBytes: $0) }
        ),
        (.endurance, [LawExchange()], { FirstRequests(startsOver: $0) }),
    ]
    private static let effects: [[FilterEffect]] = [[.tags], [], [], [], [], [], [.waits], [], []]

    @Test("a law refuses a filter with a kind of mistake, and accepts its right form", arguments: filters.indices)
    func refused(index: Int) async throws {
        let (law, exchanges, make) = Self.filters[index]
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await law.check({ make(false) }, all: exchanges)
        }
        #expect(failure?.name == law.name)
        try await law.check({ make(true) }, all: exchanges)
    }

    @Test("no law refuses the right form of a filter", arguments: filters.indices)
    func right(index: Int) async throws {
        let make = Self.filters[index].2
        try await FilterConformance.checkLaws(for: { make(true) }, effects: Self.effects[index])
    }

    @Test("the laws find a mistake that an author's tag triggers, or that another host triggers, by a sample")
    func samples() async throws {
        func failures(_ samples: [LawExchange], _ make: @escaping @Sendable () -> any Filter) async -> Int {
            let cases = FilterConformance.cases(
                for: make, samples: samples, laws: LawOptions(rounds: 30, budget: .seconds(600)),
                within: .seconds(600), gracePeriod: .seconds(300))
            var count = 0
            for each in cases where each.name == FilterLaw.request.name || each.name == FilterLaw.separation.name {
                do { try await each.run() } catch { count += 1 }
            }
            return count
        }
        let tagged = [LawExchange(tags: [LawTag(Area.self, "cart")])]
        #expect(await failures([]) { AreaHeader(addsField: false) } == 0)
        #expect(await failures(tagged) { AreaHeader(addsField: false) } > 0)
        #expect(await failures(tagged) { AreaHeader(addsField: true) } == 0)
        let elsewhere = [LawExchange(.get, "https://api.service.example/a")]
        let base = "https://api.service.example"
        #expect(await failures(elsewhere) { ServiceToken(base: base, comparesOrigin: false) } > 0)
        #expect(await failures(elsewhere) { ServiceToken(base: base, comparesOrigin: true) } == 0)
    }

    @Test("an exchange prints its tags as code")
    func code() {
        let tags = [Self.template, LawTag(LiveStream.self, true), LawTag(LinkSource.self, nil)]
        #expect(
            LawExchange(tags: tags).description
                == """
                LawExchange(tags: [LawTag(URLTemplate.self, "/v1/{law}"), LawTag(LiveStream.self, true), \
                LawTag(LinkSource.self, nil)])
                """)
        #expect(LawTag(Area.self, "a") != LawTag(Area.self, "b"))
    }

    // MARK: Accessories

    @Test("a law refuses a count of running calls that a failure leaves up", arguments: [false, true])
    func inFlight(isRight: Bool) async throws {
        try await AccessoryConformance.expect(isRight, "count of running calls", output: { $0.text }) {
            InFlight(waitsForEnd: isRight)
        }
    }

    @Test("a law refuses an indicator that the first of two ends turns off", arguments: [false, true])
    func busy(isRight: Bool) async throws {
        try await AccessoryConformance.expect(isRight, "stays on as long", output: { "\($0.isShown)" }) {
            Busy(counts: isRight)
        }
    }

    @Test("a law refuses a log whose lines mix", arguments: [false, true])
    func lines(isRight: Bool) async throws {
        try await AccessoryConformance.expect(isRight, "the same lines", output: { $0.text }) {
            CallLines(writesWhole: isRight)
        }
    }

    @Test("a law refuses batches that are taken in two steps", arguments: [false, true])
    func batches(isRight: Bool) async throws {
        try await AccessoryConformance.expect(isRight, "eight threads leave", output: { $0.text }) {
            Batches(isAtomic: isRight)
        }
    }

    @Test(
        "a law refuses sums of bytes with one memory for all transfers, or with each report",
        arguments: [TrafficSum.Form.oneForAll, .addsReports, .right])
    func sums(form: TrafficSum.Form) async throws {
        let name = form == .oneForAll ? "transfers at the same time" : "how often progress"
        try await AccessoryConformance.expect(form == .right, name, output: { $0.text }) { TrafficSum(form) }
    }

    @Test("a law refuses a log that masks only the first cookie", arguments: [false, true])
    func cookies(isRight: Bool) async throws {
        try await AccessoryConformance.expect(isRight, "no secret from any field", output: { $0.text }) {
            CookieNames(masksAll: isRight)
        }
    }

    @Test("a law refuses a log that masks only one type of JSON", arguments: [false, true])
    func types(isRight: Bool) async throws {
        try await AccessoryConformance.expect(isRight, "no secret from any field", output: { $0.text }) {
            MaskedBodies(masksAll: isRight)
        }
    }

    @Test("a law refuses a fraction of an empty transfer", arguments: [false, true])
    func fractions(isRight: Bool) async throws {
        try await AccessoryConformance.expect(isRight, "only numbers", output: { $0.text }) {
            LastProgress(looksAtTotal: isRight)
        }
    }

    @Test("a law refuses a banner after a cancellation", arguments: [false, true])
    func banner(isRight: Bool) async throws {
        try await AccessoryConformance.expect(isRight, "doesn't depend on its attempts", outcomes: { "\($0.isShown)" })
        {
            OfflineBanner(skipsCancellations: isRight)
        }
    }
}
