import Errand
import ErrandConformance
import ErrandTesting
import Testing

@Suite("Transports that are wrong or unusual on purpose", .endsInTime, .leakChecked)
struct WrongTransportTests {
    /// Mistakes that a law finds within a second, by the law.
    static let selection: [(String, TransportLaw)] = [
        ("joins fields of one name, cookies too", .response),
        ("sorts the fields of a response by value", .response),
        ("replaces what is not ASCII in values", .response),
        ("collapses spaces in values", .response),
        ("loses the rest of a body that fills no block", .response),
        ("takes the end of a broken body for its end", .faults),
        ("throws errors of its own type", .faults),
        ("ends a request body whose source fails", .faults),
        ("uppercases the method", .request),
        ("collapses slashes of the path", .request),
        ("decodes %2F in the path", .request),
        ("drops the = of an item without a value", .request),
        ("sends a request again whose connection was lost", .count),
        ("sends a request again after a challenge", .count),
        ("sends HEAD as GET", .request),
        ("follows a redirect", .response),
        ("creates its own options, which report no event", .events),
        ("reports progress of its own, twice the bytes", .events),
        ("keeps the credentials of the last request", .separation),
        ("keeps cookies", .separation),
        ("keeps responses by URL", .separation),
    ]

    @Test("a law catches a mistake, and prints a test", arguments: selection)
    func caught(description: String, law: TransportLaw) async throws {
        let wrong = try #require(AlteredTransport.wrong.first { $0.testDescription == description })
        let failure = try #require(await failure(of: law, wrong))
        #expect(failure.name == law.name)
        #expect(failure.details.hasPrefix(law.advice))
        #expect(failure.details.contains("WireExchange("))
    }

    @Test("a hanging transport is caught")
    func hanging() async throws {
        let wrong = try #require(
            AlteredTransport.wrong.first { $0.testDescription == "reads the whole body before it returns the head" })
        await #expect(throws: ConformanceFailure.self) {
            try await TransportLaw.promptness.check(
                wrong.make, WireExchange(isStreamed: true, reply: WireReply(isPaced: true)))
        }
        try await TransportLaw.promptness.check(
            { Wire.strict[0].transport }, WireExchange(isStreamed: true, reply: WireReply(isPaced: true)))
    }

    @Test("a transport that keeps its requests is caught")
    func keeping() async throws {
        let wrong = try #require(
            AlteredTransport.wrong.first { $0.testDescription == "keeps the bodies that it sent" })
        await #expect(throws: ConformanceFailure.self) {
            try await TransportLaw.release.check(
                wrong.make, WireExchange(.put, body: .stream([1], isReplayable: false)))
        }
        try await TransportLaw.release.check(
            { Wire.strict[0].transport }, WireExchange(.put, body: .stream([1], isReplayable: false)))
    }

    @Test("an unusual transport keeps every law", arguments: AlteredTransport.unusual)
    func unusual(each: AlteredTransport) async throws {
        let cases = TransportConformance.cases(
            for: each.make, laws: LawOptions(rounds: LawBudget.fewRounds, budget: LawBudget.duration))
        for law in cases where law.feature == .laws { try await law.run() }
    }

    @Test("a law's failure occurs again in the test that it prints")
    func repeated() async throws {
        let wrong = try #require(
            AlteredTransport.wrong.first { $0.testDescription == "drops the = of an item without a value" })
        await #expect(throws: ConformanceFailure.self) {
            try await TransportLaw.request.check(wrong.make, WireExchange(.get, "/a?b="))
        }
        try await TransportLaw.request.check(wrong.make, WireExchange(.get, "/a?b=1"))
    }

    @Test("a limitation leaves out its exchanges")
    func limitations() async throws {
        let wrong = try #require(
            AlteredTransport.wrong.first { $0.testDescription == "ends a request body whose source fails" })
        let cases = TransportConformance.cases(
            for: wrong.make, knownLimitations: [.feature(.streamedUploads, because: "it can't")])
        let law = try #require(cases.first { $0.name == TransportLaw.faults.name })
        try await law.run()
        #expect(!TransportConformance.cases(for: wrong.make, laws: .off).contains { $0.feature == .laws })
    }

    private func failure(of law: TransportLaw, _ wrong: AlteredTransport) async -> ConformanceFailure? {
        let cases = TransportConformance.cases(
            for: wrong.make, laws: LawOptions(rounds: 200, budget: LawBudget.duration))
        do { try await cases.first { $0.name == law.name }?.run() } catch { return error as? ConformanceFailure }
        return nil
    }
}
