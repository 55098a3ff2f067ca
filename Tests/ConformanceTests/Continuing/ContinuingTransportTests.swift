#if os(Linux) || os(Android)
import Errand
import ErrandConformance
import ErrandTesting
import Foundation
import Testing

/// Transports that continue bodies by themselves, and transports that rely on the calendar date.
@Suite("Transports that continue bodies are judged by the suite", .endsInTime, .leakChecked)
struct ContinuingTransportTests {
    private static let options = LawOptions(rounds: LawBudget.fewRounds, budget: LawBudget.duration)
    private static let streamed = WireReply(
        headers: [.entityTag: "\"law\""], body: .bytes(5_000), fault: .close(2_000))

    /// An exchange that shows each mistake.
    private static let refusals: [(ResumingTransport.Mistake, WireReply, [WireFurtherReply])] = [
        (.ignoresVersions, streamed, [.otherPart]), (.appendsWhole, streamed, [.whole]),
        (.ignoresContentRange, streamed, [.laterPart]),
        (
            .trustsWeakTags, WireReply(headers: [.entityTag: "W/\"law\""], body: .bytes(5_000), fault: .close(2_000)),
            [.part]
        ),
        (.startsOver, streamed, [.whole]), (.neverEnds, streamed, [.brokenPart]),
    ]

    @Test("the law refuses a transport that continues a body wrongly", arguments: refusals.indices)
    func refused(index: Int) async throws {
        let (mistake, reply, replies) = Self.refusals[index]
        let exchange = WireExchange(isStreamed: true, reply: reply, furtherReplies: replies)
        await #expect(throws: ConformanceFailure.self, "\(mistake)") {
            try await TransportLaw.continuation.check(
                { ResumingTransport(mistake: mistake) }, effects: [.continuesBodies], exchange)
        }
        try await TransportLaw.continuation.check(
            { ResumingTransport(mistake: nil) }, effects: [.continuesBodies], exchange)
    }

    @Test(
        "random exchanges find a transport that continues a body wrongly",
        arguments: [
            ResumingTransport.Mistake.ignoresVersions, .appendsWhole, .ignoresContentRange, .trustsWeakTags,
            .startsOver,
        ])
    func found(mistake: ResumingTransport.Mistake) async throws {
        let cases = TransportConformance.cases(
            for: { ResumingTransport(mistake: mistake) }, effects: [.continuesBodies],
            laws: LawOptions(rounds: 60, budget: .seconds(600)))
        let law = try #require(cases.first { $0.name == TransportLaw.continuation.name })
        let failure = await #expect(throws: ConformanceFailure.self) { try await law.run() }
        #expect(failure?.details.contains("effects: [.continuesBodies]") == true)
        #expect(failure?.details.contains("furtherReplies: [") == true)
    }

    @Test("a transport that continues bodies correctly keeps every law, if it's declared")
    func right() async throws {
        let cases = TransportConformance.cases(
            for: { ResumingTransport(mistake: nil) }, effects: [.continuesBodies], laws: Self.options)
        for each in cases where each.feature == .laws { try await each.run() }
    }

    @Test("a transport that declares its effect but doesn't continue bodies is refused", arguments: [false, true])
    func unneeded(isNeeded: Bool) async throws {
        let cases = TransportConformance.cases(
            for: { isNeeded ? ResumingTransport(mistake: nil) : Wire.strict[0].transport }, effects: [.continuesBodies],
            laws: Self.options)
        let each = try #require(cases.first { $0.name.contains("continuesBodies") })
        if isNeeded { return try await each.run() }
        await #expect(throws: ConformanceFailure.self) { try await each.run() }
    }

    @Test("a limitation that a transport doesn't need is found")
    func limitation() async throws {
        let name = "a connection isn't reused after Connection: close"
        let cases = TransportConformance.cases(
            for: { Wire.strict[0].transport }, laws: .off, knownLimitations: [.named(name, because: "a test")])
        let each = try #require(cases.first { $0.name == name })
        await #expect(throws: ConformanceSkipped.self) { try await each.run() }
        await #expect(throws: ConformanceFailure.self) { try await each.checkLimitation() }
        try await #require(cases.first { $0.name != name }).checkLimitation()
    }

    @Test("without its effect, the law of the count refuses a transport that continues bodies")
    func undeclared() async throws {
        let exchange = WireExchange(isStreamed: true, reply: Self.streamed, furtherReplies: [.part])
        await #expect(throws: ConformanceFailure.self) {
            try await TransportLaw.count.check({ ResumingTransport(mistake: nil) }, exchange)
        }
        try await TransportLaw.count.check(
            { ResumingTransport(mistake: nil) }, effects: [.continuesBodies], exchange)
        let names = TransportConformance.cases(for: { ResumingTransport(mistake: nil) }).map(\.name)
        #expect(!names.contains(TransportLaw.continuation.name))
    }

    @Test("a right transport continues a body, and its caller receives every byte once")
    func continued() async throws {
        let server = try TestServer()
        let body = Data((0..<5_000).map { UInt8(truncatingIfNeeded: $0 &* 7) })
        let breaks = TestResponse(headers: [.entityTag: "\"1\""], body: body).truncated(to: 2_000)
        server.on("/body", .computed { $0.headers.contains(.range) ? .ranges(body, etag: "\"1\"") : breaks })
        let transport = ResumingTransport(mistake: nil)
        let url = try #require(URL(string: server.url("/body")))
        let response = try await transport.send(HTTPRequest(.get, url), options: TransportOptions(delivery: .stream))
        #expect(try await response.body.collect(upTo: 10_000) == body)
    }

    // MARK: The date

    private static let late = WireExchange(reply: WireReply(body: .bytes(100), fault: .stall(0)))
    private static let slow = WireExchange(isStreamed: true, reply: WireReply(body: .bytes(100), isPaced: true))

    private static let dated: [(AlteredTransport, [WireExchange])] = [
        (.pacesByDate, [WireExchange(), WireExchange()]), (.timesOutByDate, [WireExchange(), late]),
        (.timesByDate, [WireExchange(), slow]),
    ]

    @Test("a law refuses a transport that measures with the date", arguments: dated.indices)
    func dates(index: Int) async throws {
        let (wrong, exchanges) = Self.dated[index]
        await #expect(throws: ConformanceFailure.self, "\(wrong.testDescription)") {
            try await TransportLaw.setback.check(wrong.make, exchanges[0], exchanges[1])
        }
        try await TransportLaw.setback.check({ Wire.strict[0].transport }, exchanges[0], exchanges[1])
    }

    @Test("no law refuses a transport that paces requests by the clock that never jumps")
    func paces() async throws {
        let cases = TransportConformance.cases(for: AlteredTransport.pacesByInstant.make, laws: Self.options)
        for each in cases where each.feature == .laws && each.name == TransportLaw.setback.name {
            try await each.run()
        }
    }
}
#endif
