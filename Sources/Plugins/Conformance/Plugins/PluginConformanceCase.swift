import ErrandEssentials
import ErrandTesting

/// A requirement of filters or accessories as a runnable case. See ``FilterConformance`` and ``AccessoryConformance``.
public struct PluginConformanceCase: Sendable, CustomStringConvertible {
    /// The requirement as a sentence that is unique in the suite.
    public let name: String
    /// Why the case doesn't apply to this plugin. `nil` if it applies.
    public let limitation: String?
    let limit: Duration
    let body: @Sendable () async throws -> Void

    /// Runs the case with its own plugin. Throws ``ConformanceFailure`` if the plugin fails or the case exceeds the
    /// suite's limit. An excused case doesn't run, and throws ``ConformanceSkipped``.
    public func run() async throws {
        try await runCase(name, limitation: limitation, within: limit, body)
    }

    /// The name and the limitation, if any.
    public var description: String { name + (limitation.map { " (excused: \($0))" } ?? "") }
}

extension [PluginConformanceCase] {
    /// A limitation that doesn't name a case becomes a failing case.
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
