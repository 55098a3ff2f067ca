import Errand
import ErrandConformance
import ErrandTesting
import Testing

/// Filters that request or store parts of a resource.
@Suite("Filters that join parts are judged by the laws", .endsInTime, .leakChecked)
struct PartFilterTests {
    private static let tagged = reply([.entityTag: "\"law\""])
    private static let dated = reply([.lastModified: "Mon, 01 Jan 2001 00:00:00 GMT"])
    private static let effects: [FilterEffect] = [.delivery, .repeats(.get), .headers(.range, .ifRange)]

    private static func reply(_ headers: HTTPHeaders) -> LawExchange {
        LawExchange(replies: [LawReply(headers: headers)])
    }

    private static let refusals: [(ResumedData.Form, LawExchange)] = [
        (.ignoresVersion, tagged), (.ignoresDate, dated), (.ignoresLength, reply([:])), (.appendsWhole, tagged),
        (.skipsBytes, tagged),
    ]

    @Test("the law refuses a filter that joins versions", arguments: refusals.indices)
    func refused(index: Int) async throws {
        let (form, exchange) = Self.refusals[index]
        await #expect(throws: ConformanceFailure.self, "\(form)") {
            try await FilterLaw.versions.check({ ResumedData(form: form) }, effects: Self.effects, exchange)
        }
    }

    @Test("random exchanges find a filter that joins versions", arguments: refusals.indices)
    func found(index: Int) async throws {
        let form = Self.refusals[index].0
        let cases = FilterConformance.cases(
            for: { ResumedData(form: form) }, effects: Self.effects,
            laws: LawOptions(rounds: 200, budget: .seconds(600)))
        let law = try #require(cases.first { $0.name == FilterLaw.versions.name })
        await #expect(throws: ConformanceFailure.self, "\(form)") { try await law.run() }
    }

    @Test("no law refuses a filter that requests the rest of the same version")
    func right() async throws {
        for exchange in [Self.tagged, Self.dated, Self.reply([:])] {
            try await FilterLaw.versions.check({ ResumedData(form: .right) }, effects: Self.effects, exchange)
        }
        try await FilterConformance.checkLaws(for: { ResumedData(form: .right) }, effects: Self.effects)
    }

    @Test("the law refuses segments of different versions", arguments: [false, true])
    func segments(isRight: Bool) async throws {
        func check() async throws {
            for exchange in [Self.tagged, Self.reply([:])] {
                try await FilterLaw.versions.check({ Segments(comparesTags: isRight) }, exchange)
            }
        }
        if isRight { return try await check() }
        await #expect(throws: ConformanceFailure.self) { try await check() }
    }

    @Test("the law refuses a store that joins parts of different versions", arguments: [false, true])
    func store(isRight: Bool) async throws {
        func check() async throws {
            try await FilterLaw.versions.check({ PartCopies(comparesTags: isRight) }, Self.tagged)
        }
        if isRight { return try await check() }
        await #expect(throws: ConformanceFailure.self) { try await check() }
    }
}
