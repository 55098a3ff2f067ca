import Errand
import ErrandConformance
import Testing

/// Plugins that were written after the laws, without sight of them, and the laws that were widened for them.
enum UnseenPlugins {
    private static let home = "https://conformance.example/v1"

    static let wrong: [LaterWrongFilter] = [
        LaterWrongFilter(
            "KeyPerAttempt", .count,
            LawExchange(.post, body: .text("law"), isRepeated: true, replies: [LawReply(503), LawReply()])
        ) { KeyPerAttempt() },
        LaterWrongFilter("StuckBreaker", .recovery, LawExchange(cancellation: .onTheWire)) { StuckBreaker() },
        LaterWrongFilter("SharedBudget", .recovery, LawExchange(replies: [LawReply(503)])) { SharedBudget() },
        LaterWrongFilter("WallClockBackoff", .time, LawExchange(replies: [LawReply(503)])) { WallClockBackoff() },
        LaterWrongFilter(
            "RedirectBlindRetry", .count,
            LawExchange(
                .post, body: .text("law"),
                replies: [
                    LawReply(307, headers: [.location: "https://other.example/v1/there"]),
                    LawReply(failure: .cannotConnect), LawReply(),
                ])
        ) { RedirectBlindRetry() },
        LaterWrongFilter("LostPermit", .recovery, LawExchange()) { LostPermit() },
        LaterWrongFilter(
            "RangeBlindCache", .distinction,
            LawExchange(
                .get, "\(home)/a", headers: [.range: "bytes=0-8"],
                replies: [LawReply(206, headers: [.contentRange: "bytes 0-8/100"], body: .text("law-first"))]),
            LawExchange(.get, "\(home)/a", replies: [LawReply(body: .text("law-second"))])
        ) { RangeBlindCache() },
        LaterWrongFilter(
            "OwnConditionals", .response,
            LawExchange(.get, "\(home)/a", replies: [LawReply(headers: [.entityTag: "\"law\""])]),
            LawExchange(
                .get, "\(home)/a", headers: [.ifNoneMatch: "\"law\""],
                replies: [LawReply(304, headers: [.entityTag: "\"law\""], body: .none)])
        ) { OwnConditionals() },
        LaterWrongFilter("DetachedSend", .request, LawExchange()) { DetachedSend() },
        LaterWrongFilter("ForgetfulWrapper", .request, LawExchange()) { ForgetfulWrapper() },
        LaterWrongFilter(
            "ChunkText", .response, LawExchange(isStreamed: true, replies: [LawReply(body: .stream(["\u{E4}", "b"]))])
        ) { ChunkText() },
        LaterWrongFilter(
            "HeadLength", .response,
            LawExchange(.head, replies: [LawReply(headers: [.contentLength: "7"], body: .none)])
        ) { HeadLength() },
    ]

    static let right: [FreshFilter] = [
        FreshFilter(right: "RightBreaker") { RightBreaker() },
        FreshFilter(right: "KeyPerCall") { KeyPerCall() },
        FreshFilter(right: "ChildTaskSend") { ChildTaskSend() },
        FreshFilter(right: "SevenBytes") { SevenBytes() },
        FreshFilter(right: "CountedBytes") { CountedBytes() },
    ]
}

@Suite("The laws judge plugins with unexpected designs", .endsInTime)
struct UnseenPluginTests {
    @Test("a law refuses a wrong filter", arguments: UnseenPlugins.wrong)
    func wrong(each: LaterWrongFilter) async throws {
        await each.expectRefusal()
    }

    @Test("no law refuses a right filter", arguments: UnseenPlugins.right)
    func right(each: FreshFilter) async throws {
        try await FilterConformance.checkLaws(for: each.make, secrets: each.secrets)
    }

    @Test("a law refuses an accessory that keeps long bodies")
    func bodies() async throws {
        await #expect(throws: ConformanceFailure.self) {
            try await AccessoryConformance.check({ LastResponses() }, LawExchange())
        }
    }

    @Test("a law refuses an accessory that writes messages, or fields of trailers, as they came")
    func messages() async throws {
        await #expect(throws: ConformanceFailure.self) {
            try await AccessoryConformance.check({ MessageLog() }, output: { $0.output }, LawExchange())
        }
        await #expect(throws: ConformanceFailure.self) {
            try await AccessoryConformance.check({ TrailerLog() }, output: { $0.output }, LawExchange())
        }
    }

    @Test("a law refuses an accessory that cancels a call")
    func cancelled() async throws {
        await #expect(throws: ConformanceFailure.self) {
            try await AccessoryConformance.check({ SignOutAt401() }, LawExchange(replies: [LawReply(401)]))
        }
    }

    @Test("no law refuses a right accessory")
    func lines() async throws {
        let cases = AccessoryConformance.cases(
            for: { BatchedLines() }, output: { $0.output },
            laws: LawOptions(rounds: LawBudget.rounds, budget: LawBudget.duration))
        for each in cases where each.name.hasPrefix("law: ") { try await each.run() }
    }
}
