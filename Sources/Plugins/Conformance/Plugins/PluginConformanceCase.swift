import ErrandEssentials
import ErrandTesting

/// A requirement of filters or accessories, as a test case that you can run. See ``FilterConformance`` and
/// ``AccessoryConformance``.
public struct PluginConformanceCase: Sendable, CustomStringConvertible {
    /// The requirement as a sentence. Each case in the suite has another sentence.
    public let name: String
    /// The reason why the case doesn't apply to this plugin. It's `nil` if the case applies.
    public let limitation: String?
    let limit: Duration
    let body: @Sendable () async throws -> Void

    /// Runs the case with its own plugin. Throws ``ConformanceFailure`` if the plugin fails, or if the case takes
    /// longer than the suite's limit. If the case is excused, throws ``ConformanceSkipped`` without running it.
    public func run() async throws {
        try await runCase(name, limitation: limitation, within: limit, body)
    }

    /// Runs an excused case despite its limitation. Throws ``ConformanceFailure`` if the case passes, because the
    /// limitation isn't needed then. A case that isn't excused isn't run.
    public func checkLimitation() async throws {
        try await runExcused(name, limitation: limitation, within: limit, body)
    }

    /// The name. If the case is excused, it's followed by the limitation.
    public var description: String { name + (limitation.map { " (excused: \($0))" } ?? "") }
}

extension [PluginConformanceCase] {
    /// Returns the cases with their limitations. If a limitation names a case that doesn't exist, the result contains a
    /// failing case for it.
    func excusing(_ limitations: [KnownLimitation], within limit: Duration) -> [PluginConformanceCase] {
        var cases = map { each in
            let limitation = limitations.first { $0.name == each.name }
            return PluginConformanceCase(
                name: each.name, limitation: limitation?.reason, limit: limit, body: each.body)
        }
        for limitation in limitations where !contains(where: { $0.name == limitation.name }) {
            let name = limitation.name ?? limitation.feature.map { "feature \($0)" } ?? ""
            cases.append(
                PluginConformanceCase(
                    name: "the limitation \"\(name)\" belongs to a case", limitation: nil, limit: limit
                ) {
                    throw ConformanceFailure(
                        expected: "a case with that name", came: "no such case: remove or correct the limitation")
                })
        }
        return cases
    }
}
