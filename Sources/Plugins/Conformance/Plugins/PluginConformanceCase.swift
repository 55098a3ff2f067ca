import ErrandEssentials
import ErrandTesting

/// A requirement of filters or accessories, as a runnable case; see ``FilterConformance`` and ``AccessoryConformance``.
public struct PluginConformanceCase: Sendable, CustomStringConvertible {
    /// The requirement, in a sentence that is unique in its suite.
    public let name: String
    /// Why the case doesn't apply to this plugin.
    public let excuse: String?
    let limit: Duration
    let body: @Sendable () async throws -> Void

    /// Runs the case with its own plugin. Throws ``ConformanceFailure`` if the plugin fails or the case exceeds the
    /// suite's limit. An excused case doesn't run and throws ``ConformanceExcused``.
    public func run() async throws {
        try await runCase(name, excuse: excuse, within: limit, body)
    }

    /// The name, with the excuse, if any.
    public var description: String { name + (excuse.map { " (excused: \($0))" } ?? "") }
}

extension [PluginConformanceCase] {
    /// Adds a failing case for each excuse that doesn't name a case.
    func excusing(_ excuses: [ConformanceExcuse], within limit: Duration) -> [PluginConformanceCase] {
        var cases = map { each in
            let excuse = excuses.first { $0.name == each.name }
            return PluginConformanceCase(
                name: each.name, excuse: excuse?.reason, limit: limit, body: each.body)
        }
        for excuse in excuses where !contains(where: { $0.name == excuse.name }) {
            let name = excuse.name ?? excuse.feature.map { "feature \($0)" } ?? ""
            cases.append(
                PluginConformanceCase(name: "the excuse \"\(name)\" belongs to a case", excuse: nil, limit: limit) {
                    throw ConformanceFailure(expected: "a case with that name", came: "none")
                })
        }
        return cases
    }
}
