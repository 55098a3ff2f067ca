import ErrandEssentials

/// How thoroughly tests try the laws of the conformance suites: with few rounds and a fixed seed, unless `.ci/full`
/// sets `ERRAND_LAWS` to a factor.
package enum LawBudget {
    /// How many times the usual rounds to play. Defaults to 1.
    package static let factor = max(1, Int(ProcessInfo.processInfo.environment["ERRAND_LAWS"] ?? "") ?? 1)

    /// Whether to run a case. With a large budget, only laws run.
    package static func includes(_ name: String) -> Bool { factor == 1 || name.hasPrefix("law: ") }

    /// The longest time for the laws of one plugin.
    package static var duration: Duration { .seconds(600) * factor }
}
