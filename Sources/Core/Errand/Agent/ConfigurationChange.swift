import Synchronization

/// Detects configuration changes nested in a change.
///
/// A change that has to run again must not repeat its nested changes, because each would make it run again, endlessly.
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

    static func run(on owner: AnyObject, isRepeated: Bool, _ change: () throws -> Void) rethrows {
        let run = ConfigurationChange(owner, isRepeated: isRepeated)
        // A task started by the change inherits the task-local value and can outlive it.
        defer { run.isOver.store(true, ordering: .releasing) }
        try $current.withValue(run) { try change() }
    }

    /// Returns whether the caller is within a change of the owner that runs again.
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
