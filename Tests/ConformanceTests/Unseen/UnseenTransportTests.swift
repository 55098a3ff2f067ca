#if os(Linux) || os(Android)
import Errand
import ErrandConformance
import Testing

/// Transports that were written without sight of the suite.
@Suite("The suite judges transports with unexpected designs", .endsInTime)
struct UnseenTransportTests {
    private static let wrong: [(String, @Sendable () -> any Transport)] = [
        ("an error after the head contains the response, with every delivery", { EvidenceLost() }),
        ("cancellations at 500 random moments don't affect other requests", { CancelsNeighbors() }),
        ("a body in memory is sent with its Content-Length", { ChunksLargeBodies() }),
        ("responses have their bodies with every status", { KnownStatuses() }),
    ]

    @Test("a case refuses a wrong transport", arguments: wrong.indices)
    func refused(index: Int) async throws {
        let (name, make) = Self.wrong[index]
        try await expectRefusal(by: name, of: make)
    }

    @Test("a law refuses a transport that takes a slow reader for a silent server")
    func reader() async throws {
        let exchange = WireExchange(isStreamed: true, isReadSlowly: true, reply: WireReply(body: .bytes(50)))
        await #expect(throws: ConformanceFailure.self) {
            try await TransportLaw.promptness.check({ ImpatientWithReaders() }, exchange)
        }
        try await TransportLaw.promptness.check({ SmallPieces() }, exchange)
    }

    @Test("no law refuses a right transport")
    func right() async throws {
        let cases = TransportConformance.cases(
            for: { SmallPieces() }, laws: LawOptions(rounds: LawBudget.fewRounds, budget: LawBudget.duration))
        for each in cases where each.feature == .laws { try await each.run() }
    }
}
#endif
