import Errand
import ErrandConformance
import ErrandTesting
import Testing

/// Right filters that the suite once refused, each next to a wrong one that it still refuses.
@Suite("Filters with unusual fields, origins, copies or stored tags are judged by the suite", .endsInTime, .serialized)
struct MeasuredFilterTests {
    private static let deletion = LawExchange(.delete, headers: [.acceptLanguage: "de"])

    @Test("the law about spelling ignores a language's letters in a longer word", arguments: [false, true])
    func spelling(comparesText: Bool) async throws {
        func check() async throws {
            try await FilterLaw.spelling.check(
                { MethodField(comparesText: comparesText) }, effects: [.method, .headers("X-Method")], Self.deletion)
        }
        if !comparesText { return try await check() }
        await #expect(throws: ConformanceFailure.self) { try await check() }
    }

    @Test(
        "the law about arrival sends the whole first chunk before it waits for the reader",
        arguments: ["\u{201C}", "\u{201C}a", "a\u{201C}", "a"])
    func arrival(chunk: String) async throws {
        let exchange = LawExchange(
            isStreamed: true,
            replies: [LawReply(headers: [.contentType: "text/plain"], body: .awaitedStream([chunk, "b"]))])
        try await FilterLaw.arrival.check({ PlainMarks() }, effects: [.response], exchange)
    }

    private static func run(
        _ name: String, _ make: @escaping @Sendable () -> any Filter, effects: [FilterEffect] = [],
        samples: [LawExchange] = []
    ) async throws {
        let cases = FilterConformance.cases(
            for: make, effects: effects, samples: samples, laws: .off, within: .seconds(600))
        try await #require(cases.first { $0.name == name }).run()
    }

    @Test("the agent's credentials may be sent to the origin of a sample, and to no other")
    func origins() async throws {
        let name = "the agent's credentials for its own origin aren't sent to another"
        let samples = [LawExchange(.get, "https://center.test/v1/a")]
        try await Self.run(name, { OtherCenter() }, effects: [.url], samples: samples)
        for samples in [[], [LawExchange(.get, "https://center.test:8443/v1/a")]] {
            await #expect(throws: ConformanceFailure.self) {
                try await Self.run(name, { OtherCenter() }, effects: [.url], samples: samples)
            }
        }
    }

    @Test(
        "detached copies for another server don't count as a call's own requests",
        arguments: [
            "a URL reaches the transport unchanged", "the request's fields reach the transport unchanged",
            "a response to HEAD doesn't get a body",
        ])
    func copies(name: String) async throws {
        try await Self.run(name, { FirstCopies() }, effects: [.repeats(.get, .head)])
    }

    @Test("the law about release permits the tags of a stored response, but not the call", arguments: [false, true])
    func release(keepsCalls: Bool) async throws {
        func check() async throws {
            try await FilterLaw.release.check(
                { TagStore(keepsCalls: keepsCalls) }, LawExchange(isTagged: true, replies: [LawReply(body: .text("a"))])
            )
        }
        if !keepsCalls { return try await check() }
        let failure = await #expect(throws: ConformanceFailure.self) { try await check() }
        #expect(failure?.came.contains("the request") == true)
    }
}
