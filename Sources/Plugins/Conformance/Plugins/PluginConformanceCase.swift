import ErrandEssentials
import ErrandTesting

/// One promise of a filter or an accessory, as a case that can be run; see ``FilterConformance`` and
/// ``AccessoryConformance``.
public struct PluginConformanceCase: Sendable, CustomStringConvertible {
    /// The promise, in a sentence that is unique in its suite.
    public let name: String
    /// The reason why it does not apply to this plugin; nil if it does.
    public let excuse: String?
    let limit: Duration
    let body: @Sendable () async throws -> Void

    /// Runs the case with a plugin of its own. Throws ``ConformanceFailure`` if the promise is not kept, and if the
    /// case takes longer than the suite's limit. An excused case only throws ``ConformanceExcused``.
    public func run() async throws {
        try await runCase(name, excuse: excuse, within: limit, body)
    }

    /// The name, and the excuse.
    public var description: String { name + (excuse.map { " (excused: \($0))" } ?? "") }
}

extension [PluginConformanceCase] {
    /// The same cases with their excuses. An excuse that names no case adds one that fails.
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
                    throw ConformanceFailure(expected: "a case of that name", came: "none")
                })
        }
        return cases
    }
}
