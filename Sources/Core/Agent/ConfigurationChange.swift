import Synchronization

/// One run of a closure that changes a configuration, so that a change within that closure is recognised.
///
/// A change that has to run again must not repeat what it changed by calls of its own: each of those would make it run
/// once more, without an end.
final class ConfigurationChange: Sendable {
    @TaskLocal private static var current: ConfigurationChange?

    private let agent: ObjectIdentifier
    private let isRepeated: Bool
    private let outer: ConfigurationChange?
    private let isOver = Atomic(false)

    private init(_ agent: NetworkAgent, isRepeated: Bool) {
        self.agent = ObjectIdentifier(agent)
        self.isRepeated = isRepeated
        outer = Self.current
    }

    static func run(on agent: NetworkAgent, isRepeated: Bool, _ change: () throws -> Void) rethrows {
        let run = ConfigurationChange(agent, isRepeated: isRepeated)
        // A task that the change has started inherits the mark and may outlive it.
        defer { run.isOver.store(true, ordering: .releasing) }
        try $current.withValue(run) { try change() }
    }

    /// Whether this is called within a change of the agent that runs for a second time.
    static func isRepeated(on agent: NetworkAgent) -> Bool {
        var run = current
        while let change = run {
            if change.agent == ObjectIdentifier(agent), change.isRepeated, !change.isOver.load(ordering: .acquiring) {
                return true
            }
            run = change.outer
        }
        return false
    }
}
