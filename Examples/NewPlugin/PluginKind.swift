/// What a plugin may be.
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

/// What differs between kinds.
struct PluginTemplate {
    /// Two sentences for the README.
    let summary: String
    /// How it is used, for the README.
    let usage: String
    /// The module whose conformance suite runs.
    let suite: String
    /// The modules of Errand that the plugin imports, and those that its tests import beside them.
    let modules: [String]
    let testModules: [String]
    let source: String
    let tests: String
}
