import Errand
import ErrandConformance
import ErrandTesting
import Testing

/// Filters that answer instead of a server, and accessories whose work begins when a request is sent.
@Suite("Filters that answer after a failure are judged by the suite", .endsInTime, .leakChecked)
struct AnsweringFilterTests {
    private static let exchanges = [
        LawExchange(isRefused: true, replies: [LawReply(failure: .connectionLost)]),
        LawExchange(isStrict: true, replies: [LawReply(failure: .cannotConnect)]),
        LawExchange(replies: [LawReply(failure: .timedOut)]),
    ]

    @Test("no law demands the transport's error from a filter that answers itself", arguments: exchanges)
    func answers(exchange: LawExchange) async throws {
        try await FilterLaw.response.check({ OfflineAnswer(keepsCancellations: true) }, effects: [.responds], exchange)
    }

    @Test("without its effect, the law refuses an answer instead of the transport's error")
    func undeclared() async throws {
        await #expect(throws: ConformanceFailure.self) {
            try await FilterLaw.response.check({ OfflineAnswer(keepsCancellations: true) }, Self.exchanges[2])
        }
    }

    @Test("a law refuses a filter that answers after a cancellation")
    func cancellation() async throws {
        let exchange = LawExchange(replies: [LawReply(failure: .cancelled)])
        await #expect(throws: ConformanceFailure.self) {
            try await FilterLaw.response.check(
                { OfflineAnswer(keepsCancellations: false) }, effects: [.responds], exchange)
        }
    }

    private static let cases = FilterConformance.cases(
        for: { OfflineAnswer(keepsCancellations: true) }, effects: [.responds],
        laws: LawOptions(rounds: LawBudget.fewRounds, budget: LawBudget.duration)
    ).filter { LawBudget.includes($0.name) }

    @Test("no case refuses a filter that answers itself", arguments: cases)
    func right(each: PluginConformanceCase) async throws { try await each.run() }

    @Test("a law refuses a spinner that a cancellation during a transfer doesn't stop", arguments: [false, true])
    func spinner(isRight: Bool) async throws {
        try await AccessoryConformance.expect(isRight, "changes and changes back", output: { $0.text }) {
            TransferSpinner(endsWithCall: isRight)
        }
    }

    @Test("a law refuses a count of transfers that a cancellation leaves up", arguments: [false, true])
    func transfers(isRight: Bool) async throws {
        try await AccessoryConformance.expect(isRight, "count of running calls", output: { $0.count }) {
            TransferSpinner(endsWithCall: isRight)
        }
    }
}
