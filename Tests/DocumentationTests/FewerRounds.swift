import Errand
import ErrandConformance
import ErrandTestSupport

// The guides' plugins run with fewer rounds than a reader's plugins do, because these suites run often.

enum FilterConformance {
    static func cases(
        for make: @escaping @Sendable () throws -> any Filter, effects: [FilterEffect] = [],
        samples: [LawExchange] = [], secrets: [String] = [], another: (@Sendable () throws -> any Filter)? = nil,
        laws: LawOptions = LawOptions(rounds: LawBudget.fewRounds, budget: LawBudget.duration),
        knownLimitations limitations: [KnownLimitation] = []
    ) -> [PluginConformanceCase] {
        ErrandConformance.FilterConformance.cases(
            for: make, effects: effects, samples: samples, secrets: secrets, another: another, laws: laws,
            knownLimitations: limitations
        ).filter { LawBudget.includes($0.name) }
    }

    static func holdingCases(for make: @escaping @Sendable () throws -> any Filter) -> [PluginConformanceCase] {
        ErrandConformance.FilterConformance.holdingCases(for: make)
    }

    static func closureCases(
        for make: @escaping @Sendable (ConformanceClosure) throws -> any Filter
    ) -> [PluginConformanceCase] {
        ErrandConformance.FilterConformance.closureCases(for: make)
    }

    static func unneededEffects(
        for make: @escaping @Sendable () throws -> any Filter, effects: [FilterEffect]
    ) async throws -> [FilterEffect] {
        try await ErrandConformance.FilterConformance.unneededEffects(for: make, effects: effects)
    }
}

enum AccessoryConformance {
    static func cases<Subject: Accessory>(
        for make: @escaping @Sendable () throws -> Subject,
        output: @escaping @Sendable (Subject) async throws -> String = { _ in "" }
    ) -> [PluginConformanceCase] {
        ErrandConformance.AccessoryConformance.cases(
            for: make, output: output, laws: LawOptions(rounds: LawBudget.fewRounds, budget: LawBudget.duration)
        ).filter { LawBudget.includes($0.name) }
    }
}
