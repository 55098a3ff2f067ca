/// The kinds of plugins.
enum PluginKind: String, CaseIterable {
    case filter, accessory, transport
    case cacheStore = "cache-store"
    case logSink = "log-sink"
    case check

    func template(_ name: PluginName) -> PluginTemplate {
        switch self {
        case .filter: .filter(name)
        case .accessory: .accessory(name)
        case .transport: .transport(name)
        case .cacheStore: .cacheStore(name)
        case .logSink: .logSink(name)
        case .check: .check(name)
        }
    }
}

/// The parts of a package that differ between kinds.
struct PluginTemplate {
    /// Two sentences for the README.
    let summary: String
    /// Example code for the README.
    let usage: String
    /// The module with the conformance suite.
    let suite: String
    /// The Errand modules that the plugin imports, and additional modules for its tests.
    let modules: [String]
    let testModules: [String]
    let source: String
    let tests: String
}
