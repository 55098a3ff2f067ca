import Errand
import ErrandConformance
import ErrandTesting
import Testing

/// Transports that were written after the laws, without sight of them.
@Suite("Later transports are judged by the laws", .endsInTime, .leakChecked)
struct LaterTransportTests {
    /// The law that catches each mistake, and the exchanges that show it.
    private static let selection: [(TransportLaw, [WireExchange])] = [
        (.count, [WireExchange(isStreamed: true, reply: WireReply(body: .bytes(5_000), fault: .close(2_000)))]),
        (.count, [WireExchange(reply: WireReply(fault: .close(0)))]),
        (.promptness, [WireExchange(isStreamed: true, reply: WireReply(isPaced: true))]),
        (.request, [WireExchange(.post, body: .stream([7, 5_000]))]),
        (.separation, [WireExchange(reply: WireReply(fault: .close(0))), WireExchange()]),
    ]

    @Test("a law catches a mistake", arguments: AlteredTransport.laterWrong.indices)
    func wrong(index: Int) async throws {
        let (law, exchanges) = Self.selection[index]
        let wrong = AlteredTransport.laterWrong[index]
        await #expect(throws: ConformanceFailure.self, "\(wrong.testDescription)") {
            if exchanges.count == 2 {
                try await law.check(wrong.make, exchanges[0], exchanges[1])
            } else {
                try await law.check(wrong.make, exchanges[0])
            }
        }
    }

    @Test("a right transport keeps every law", arguments: AlteredTransport.laterRight)
    func right(each: AlteredTransport) async throws {
        let cases = TransportConformance.cases(
            for: each.make, laws: LawOptions(rounds: LawBudget.fewRounds, budget: LawBudget.duration))
        for law in cases where law.feature == .laws { try await law.run() }
    }
}
