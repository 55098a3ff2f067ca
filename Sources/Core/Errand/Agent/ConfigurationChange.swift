import Synchronization

/// One run of a closure that changes a configuration, so that a change within that closure is recognised.
///
/// A change that has to run again must not repeat what it changed by calls of its own: each of those would make it run
/// once more, without an end.
final class ConfigurationChange: Sendable {
    @TaskLocal private static var current: ConfigurationChange?

    private let owner: ObjectIdentifier
    private let isRepeated: Bool
    private let outer: ConfigurationChange?
    private let isOver = Atomic(false)

    private init(_ owner: AnyObject, isRepeated: Bool) {
        self.owner = ObjectIdentifier(owner)
        self.isRepeated = isRepeated
        outer = Self.current
    }

    /// Runs a change of the configuration of an owner.
    static func run(on owner: AnyObject, isRepeated: Bool, _ change: () throws -> Void) rethrows {
        let run = ConfigurationChange(owner, isRepeated: isRepeated)
        // A task that the change has started inherits the mark and may outlive it.
        defer { run.isOver.store(true, ordering: .releasing) }
        try $current.withValue(run) { try change() }
    }

    /// Whether this is called within a change of the owner that runs for a second time.
    static func isRepeated(on owner: AnyObject) -> Bool {
        var run = current
        while let change = run {
            if change.owner == ObjectIdentifier(owner), change.isRepeated, !change.isOver.load(ordering: .acquiring) {
                return true
            }
            run = change.outer
        }
        return false
    }
}
