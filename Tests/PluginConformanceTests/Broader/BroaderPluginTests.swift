import Errand
import ErrandConformance
import Synchronization
import Testing

/// Plugins whose mistake shows only in another state, for another arrival, or in their output.
@Suite("Plugins in other circumstances are judged by the laws", .endsInTime, .serialized)
struct BroaderPluginTests {
    private static let home = "https://conformance.example/v1"
    private static let upload = LawBody.stream(["law", "b"], isReplayable: true)
    private static let cancelled = [LawExchange(.get, cancellation: .onTheWire), LawExchange(.get)]
    private static let rejected = [
        LawExchange(isRefused: true, replies: [LawReply(body: .text("law-refused"))]),
        LawExchange(replies: [LawReply(failure: .connectionLost)]),
    ]

    private static let filters: [(FilterLaw, [LawExchange], @Sendable (_ isRight: Bool) -> any Filter)] = [
        (.arrival, [LawExchange(isStrict: true, replies: [LawReply(402)])], { ReasonErrors(isPatient: $0) }),
        (.request, [LawExchange(.put, body: upload)], { UploadCount(reopens: $0) }),
        (.abandonment, cancelled, { Pause(looksAtCancellation: $0) }),
        (.acceptance, rejected, { Fallback(waitsForAcceptance: $0) }),
        (.response, [LawExchange(replies: [LawReply(401)])], { Renewal(attempts: $0 ? 1 : .max) }),
    ]

    @Test("a law refuses a filter with a mistake, and accepts its right form", arguments: filters.indices)
    func refused(index: Int) async throws {
        let (law, exchanges, make) = Self.filters[index]
        let failure = await #expect(throws: ConformanceFailure.self) {
            try await law.check({ make(false) }, all: exchanges)
        }
        #expect(failure?.name == law.name)
        try await law.check({ make(true) }, all: exchanges)
    }

    private static let effects: [[FilterEffect]] = [[.error], [], [], [], []]

    @Test("no law refuses a right filter", arguments: filters.indices)
    func right(index: Int) async throws {
        let make = Self.filters[index].2
        try await FilterConformance.checkLaws(for: { make(true) }, effects: Self.effects[index])
    }

    @Test("no law refuses a filter that mirrors reads with detached copies")
    func mirror() async throws {
        try await FilterConformance.checkLaws(for: { ReadCopies() }, effects: [.repeats(.get)])
    }

    // MARK: Samples

    /// A response with the field that a filter examines.
    private static let summed = LawExchange(replies: [LawReply(headers: ["X-Sum": "324"], body: .text("law"))])

    private func failures(_ leavesStreams: Bool, samples: [LawExchange]) async -> [String] {
        let cases = FilterConformance.cases(
            for: { SumField(leavesStreams: leavesStreams) }, samples: samples,
            laws: LawOptions(rounds: 30, budget: .seconds(600)), within: .seconds(600), gracePeriod: .seconds(300))
        var names: [String] = []
        for each in cases where each.name.hasPrefix("law: a response") {
            do { try await each.run() } catch { names.append("\(error)") }
        }
        return names
    }

    @Test("a sample shows the laws what a filter reacts to")
    func samples() async throws {
        #expect(await failures(false, samples: []) == [])
        #expect(await failures(false, samples: [Self.summed]) != [])
        #expect(await failures(true, samples: [Self.summed]) == [])
    }

    // MARK: Filters that hold requests back

    @Test("the cases for held calls refuse a gate that ignores cancellations, and accept one that doesn't")
    func holding() async throws {
        for isRight in [false, true] {
            let gates = Made<SignInGate>()
            let cases = FilterConformance.holdingCases(
                for: { gates.keep(SignInGate(isCancellable: isRight)) },
                gracePeriod: isRight ? .seconds(300) : .milliseconds(100))
            for each in cases {
                var failure: (any Error)?
                do { try await each.run() } catch { failure = error }
                #expect((failure == nil) == isRight, "\(each): \(failure.map { "\($0)" } ?? "no failure")")
                // Ends the calls that still wait.
                gates.forEach { $0.open() }
            }
        }
    }

    @Test("the cases for held calls refuse a filter that sends")
    func open() async throws {
        for each in FilterConformance.holdingCases(for: { Renewal(attempts: 1) }, gracePeriod: .seconds(5)) {
            await #expect(throws: ConformanceFailure.self) { try await each.run() }
        }
    }

    // MARK: Accessories

    private static func laws<Subject: Accessory>(
        _ name: String, output: @escaping @Sendable (Subject) async throws -> String = { _ in "" },
        outcomes: @escaping @Sendable (Subject) async throws -> String = { _ in "" },
        attach: @escaping @Sendable (Subject, NetworkAgent) -> Void = { _, _ in },
        _ make: @escaping @Sendable () -> Subject
    ) -> PluginConformanceCase? {
        AccessoryConformance.cases(
            for: make, output: output, outcomes: outcomes, attach: attach, within: .seconds(600),
            gracePeriod: .seconds(300)
        ).first { $0.name.contains(name) }
    }

    private func expect(_ isRight: Bool, _ each: PluginConformanceCase?) async throws {
        let each = try #require(each)
        if isRight { return try await each.run() }
        await #expect(throws: ConformanceFailure.self) { try await each.run() }
    }

    @Test("a law refuses an indicator that counts requests up and calls down", arguments: [false, true])
    func indicator(isRight: Bool) async throws {
        let each = Self.laws("changes back", output: { "\($0.isShown)" }) { Loading(countsCalls: isRight) }
        try await expect(isRight, each)
    }

    @Test("a law refuses a list of calls that confuses calls with the same label", arguments: [false, true])
    func labels(isRight: Bool) async throws {
        let each = Self.laws("same words", output: { $0.text }) { Finished(usesID: isRight) }
        try await expect(isRight, each)
    }

    @Test("a law refuses a sum of bytes that adds totals", arguments: [false, true])
    func bytes(isRight: Bool) async throws {
        let each = Self.laws("how often progress", output: { $0.text }) { ReceivedBytes(addsDifferences: isRight) }
        try await expect(isRight, each)
    }

    @Test("a law refuses a sign-out because of an attempt", arguments: [false, true])
    func signOuts(isRight: Bool) async throws {
        let each = Self.laws("doesn't depend on its attempts", outcomes: { "\($0.count)" }) {
            SignOuts(waitsForEnd: isRight)
        }
        try await expect(isRight, each)
    }

    @Test("a law refuses a reporter that reports its own reports", arguments: [false, true])
    func reports(isRight: Bool) async throws {
        let each = Self.laws("more and more", attach: { $0.attach(to: $1) }) { Reporter(skipsReports: isRight) }
        try await expect(isRight, each)
    }
}

/// Keeps what a closure made.
private final class Made<Element: Sendable>: Sendable {
    private let all = Mutex<[Element]>([])

    func keep(_ element: Element) -> Element {
        all.withLock { $0.append(element) }
        return element
    }

    func forEach(_ body: (Element) -> Void) { for each in all.withLock({ $0 }) { body(each) } }
}
