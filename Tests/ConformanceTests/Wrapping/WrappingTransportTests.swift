#if os(Linux) || os(Android)
import Errand
import ErrandConformance
import Testing

/// Transports that wrap another client, each with a mistake that an app's developer could make.
@Suite("Transports that wrap another client are judged by the suite", .endsInTime)
struct WrappingTransportTests {
    private static let slowness = "a timeout doesn't limit the total time, or a reader, by the system's clock"
    private static let exactLimit =
        "a body of exactly the size limit is accepted, and a longer one is bodyTooLarge"

    /// The case that catches each mistake.
    private static let refusals: [(String, AlteredTransport)] = [
        (slowness, .totalTimeout), (slowness, .readerTimeout),
        ("a timeout of less than a millisecond ends a request, and a huge one doesn't", .wholeMilliseconds),
        ("the timeout of a request doesn't affect a concurrent request", .sharedTimeout),
        ("a server that is silent in the middle of a body causes a timeout", .keepsConnection),
        ("a cancelled request ends at once", .pollsCancellation),
        ("if a body's source fails, the server doesn't receive a complete request", .blamesConnection),
        (exactLimit, .collects("rejects a body of exactly the limit") { $0 - 1 }),
        (exactLimit, .collects("has a limit of 10 MB") { min($0, 10_000_000) }), (exactLimit, .limitsStreams),
        ("a response without a body can have a Content-Encoding", .decodesNothing),
        ("a body with an unknown Content-Encoding isn't changed, or is an error", .namesNoCoding),
        ("a gzip body of two members is decoded completely, is an error, or stays coded", .firstMember),
        ("an IPv6 address is a host like any other, with brackets in Host", .hostWithoutBrackets),
        ("an empty path is sent as /, and a fragment isn't sent", .sendsFragment),
        (
            "concurrent requests to one URL with different fields, methods or bodies get their own responses",
            .coalesces
        ),
        ("requests still work after many responses with error statuses", .breaksCircuit),
    ]

    @Test("a case refuses a wrong transport", arguments: refusals.indices)
    func refused(index: Int) async throws {
        let (name, wrong) = Self.refusals[index]
        try await expectRefusal(by: name, of: wrong.make)
    }

    @Test("a case refuses a transport that reads a body past the limit")
    func limit() async throws {
        try await expectRefusal(by: "a body above the size limit is a bodyTooLarge error") { LimitBlind() }
    }

    /// The law that catches each mistake, and the exchanges that show it.
    private static let violations: [(TransportLaw, AlteredTransport, [WireExchange])] = [
        (.request, .hostWithoutPort, [WireExchange()]),
        (.request, .ownCodings, [WireExchange(headers: [.acceptEncoding: "law/1"])]),
        (
            .count, .retries("sends again after a timeout") { $0.code == .timedOut },
            [WireExchange(reply: WireReply(fault: .stall(0)))]
        ),
        (
            .count, .retries("sends again after an invalid response") { $0.code == .invalidResponse },
            [WireExchange(reply: WireReply(fault: .malformed(.statusLine)))]
        ),
        (.count, .retriesGateways, [WireExchange(reply: WireReply(502))]),
        (.count, .fillsEmpty, [WireExchange(reply: WireReply(body: .text("")))]),
        (.faults, .neverConnected, [WireExchange(.post, reply: WireReply(fault: .close(0)))]),
        (
            .response, .followsAbsolute,
            [WireExchange(reply: WireReply(302, headers: [.location: "http://127.0.0.1:1/b"]))]
        ),
        (
            .concurrency, .mixesEvents,
            [WireExchange(), WireExchange(.get, "/b", reply: WireReply(informational: [103]))]
        ),
    ]

    @Test("a law refuses a wrong transport, and accepts the client that it wraps", arguments: violations.indices)
    func violated(index: Int) async throws {
        let (law, wrong, exchanges) = Self.violations[index]
        func check(_ make: @escaping @Sendable () -> any Transport) async throws {
            if exchanges.count == 2 {
                try await law.check(make, exchanges[0], exchanges[1])
            } else {
                try await law.check(make, exchanges[0])
            }
        }
        await #expect(throws: ConformanceFailure.self, "\(wrong.testDescription)") { try await check(wrong.make) }
        try await check { Wire.strict[0].transport }
    }

    @Test("the random exchanges of a law show a mistake", arguments: violations.indices)
    func found(index: Int) async throws {
        let (law, wrong, _) = Self.violations[index]
        let cases = TransportConformance.cases(
            for: wrong.make, laws: LawOptions(rounds: 200, budget: LawBudget.duration))
        let each = try #require(cases.first { $0.name == law.name })
        await #expect(throws: ConformanceFailure.self, "\(wrong.testDescription)") { try await each.run() }
    }

    @Test(
        "no case about timeouts refuses a transport that waits by the clock of its options, before it sends",
        arguments: [
            "a server that is silent before the head causes a timeout",
            "a server that is silent after connecting causes a timeout",
            "a server that is silent in the middle of a body causes a timeout",
            "the timeout of a request doesn't affect a concurrent request",
        ])
    func waits(name: String) async throws {
        let cases = TransportConformance.cases(for: AlteredTransport.waitsFirst.make)
        try await #require(cases.first { $0.name == name }).run()
    }

    @Test("a slot of a dropped stream must be released")
    func slots() async throws {
        let name = "requests still work after many streams that were dropped"
        try await expectRefusal(by: name, of: AlteredTransport.slots(returnsAlways: false).make)
        let cases = TransportConformance.cases(for: AlteredTransport.slots(returnsAlways: true).make)
        try await #require(cases.first { $0.name == name }).run()
    }
}
#endif
