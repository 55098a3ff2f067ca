#if os(Linux) || os(Android)
import Errand
import ErrandConformance
import Testing

@Suite("Transports that keep, wait or count across requests are judged by the suite", .endsInTime)
struct FurtherTransportTests {
    private static let resumable = WireExchange(
        reply: WireReply(
            headers: [.acceptRanges: "bytes", .entityTag: "\"law\""], body: .bytes(5_000), fault: .close(2_000)))

    private static let mistaken: [(String, @Sendable () -> any Transport)] = [
        ("the length of a response to HEAD doesn't matter, however large it is", { LengthLimit() }),
        ("a response isn't returned again when the server can't be reached", { LastResort() }),
        (
            "a streamed body that is cancelled closes its connection, even if the response is kept",
            { SlowStreams(passesCancellation: false) }
        ),
        ("requests still work after more than a thousand failures", { EightAtATime(returnsAlways: false) }),
    ]

    @Test("a case refuses a wrong transport", arguments: mistaken.indices)
    func refused(index: Int) async throws {
        let (name, make) = Self.mistaken[index]
        try await expectRefusal(by: name, of: make)
    }

    @Test("a law refuses a transport that sends a second request for the rest of a body")
    func rest() async throws {
        await #expect(throws: ConformanceFailure.self) {
            try await TransportLaw.count.check({ AppendsRest() }, Self.resumable)
        }
        try await TransportLaw.count.check({ SlowStreams() }, Self.resumable)
    }

    @Test("a law rejects a transport whose responses have a different URL from their requests")
    func address() async throws {
        let exchange = WireExchange(.get, "/a?b=1")
        await #expect(throws: ConformanceFailure.self) {
            try await TransportLaw.response.check({ ShortURLs() }, exchange)
        }
        try await TransportLaw.response.check({ SlowStreams() }, exchange)
    }

    @Test("a transport can wait between chunks on the agent's clock, however slowly a reader reads")
    func waits() async throws {
        for isSlow in [false, true] {
            let exchange = WireExchange(isStreamed: true, isReadSlowly: isSlow, reply: WireReply(body: .bytes(70_000)))
            try await TransportLaw.promptness.check({ SlowStreams() }, exchange)
        }
    }

    private static let accepted: [@Sendable () -> any Transport] = [
        { EightAtATime(returnsAlways: true) }, { SlowStreams() }, { LengthLimit(looksAtMethod: true) },
    ]

    @Test(
        "the suite accepts correct transports, such as a transport with eight concurrent requests",
        arguments: accepted.indices)
    func right(index: Int) async throws {
        for each in TransportConformance.cases(
            for: Self.accepted[index], laws: LawOptions(rounds: LawBudget.fewRounds, budget: LawBudget.duration))
        {
            do { try await each.run() } catch { Issue.record("\(error)") }
        }
    }
}
#endif
