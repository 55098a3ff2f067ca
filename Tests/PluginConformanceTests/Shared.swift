import Errand
import ErrandConformance
/// Every file of this suite can use the shared test code.
@_exported import ErrandTestSupport
import Testing

extension FilterConformance {
    /// Runs the laws on a filter that must keep them.
    static func checkLaws(
        for make: @escaping @Sendable () -> any Filter, secrets: [String] = [], effects: [FilterEffect] = [],
        laws: LawOptions = LawOptions(rounds: LawBudget.fewRounds, budget: LawBudget.duration)
    ) async throws {
        let cases = cases(
            for: make, effects: effects, secrets: secrets, laws: laws, within: .seconds(600),
            gracePeriod: .seconds(300))
        try await cases.runLaws()
    }
}

extension AccessoryConformance {
    /// Expects that every law keeps a right accessory, or that the law with this text in its name refuses a wrong one.
    static func expect<Subject: Accessory>(
        _ isRight: Bool, _ name: String, output: @escaping @Sendable (Subject) async throws -> String = { _ in "" },
        outcomes: @escaping @Sendable (Subject) async throws -> String = { _ in "" },
        _ make: @escaping @Sendable () -> Subject
    ) async throws {
        let cases = cases(
            for: make, output: output, outcomes: outcomes,
            laws: LawOptions(rounds: isRight ? LawBudget.fewRounds : 60, budget: LawBudget.duration),
            within: .seconds(600), gracePeriod: .seconds(300))
        if isRight { return try await cases.runLaws() }
        let each = try #require(cases.first { $0.name.contains(name) })
        await #expect(throws: ConformanceFailure.self) { try await each.run() }
    }
}

extension [PluginConformanceCase] {
    fileprivate func runLaws() async throws {
        for each in self where each.name.hasPrefix("law: ") && LawBudget.includes(each.name) { try await each.run() }
    }
}
