import Errand
import ErrandConformance
/// Every file of this suite can use the shared test code.
@_exported import ErrandTestSupport

extension FilterConformance {
    /// Runs the laws on a filter that must keep them.
    static func checkLaws(
        for make: @escaping @Sendable () -> any Filter, secrets: [String] = [], effects: [FilterEffect] = [],
        laws: LawOptions = LawOptions(rounds: LawBudget.fewRounds, budget: LawBudget.duration)
    ) async throws {
        let cases = cases(
            for: make, effects: effects, secrets: secrets, laws: laws, within: .seconds(600),
            gracePeriod: .seconds(300))
        for each in cases where each.name.hasPrefix("law: ") && LawBudget.includes(each.name) {
            try await each.run()
        }
    }
}
