import ErrandEssentials

/// How thoroughly tests try the laws of the conformance suites: with few rounds and a fixed seed, unless `.ci/full`
/// sets `ERRAND_LAWS` to a factor.
package enum LawBudget {
    /// How many times the usual rounds to play. Defaults to 1.
    package static let factor = max(1, Int(ProcessInfo.processInfo.environment["ERRAND_LAWS"] ?? "") ?? 1)

    /// The rounds for plugins that keep every law. The seed is fixed, so more rounds find more faults only after a
    /// change.
    package static let rounds = 10 * factor

    /// The rounds for the right forms of plugins that are wrong on purpose.
    package static let fewRounds = 5 * factor

    /// Whether to run a case. With a large budget, only laws run. A debug build omits cases that make hundreds of calls
    /// or more, for example to measure memory; the suites in release run them.
    package static func includes(_ name: String) -> Bool {
        #if DEBUG
        if name.contains("memory") || name.contains("hundreds of") || name.contains("two thousand") { return false }
        #endif
        return factor == 1 || name.hasPrefix("law: ")
    }

    /// The longest time for the laws of one plugin.
    package static var duration: Duration { .seconds(600) * factor }
}
