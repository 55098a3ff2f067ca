import Synchronization

/// One run of a handler. Prevents requests from the handler from waiting for that handler.
final class RefreshScope: Sendable {
    @TaskLocal static var current: [RefreshScope] = []
    /// The number of running handlers in the process. Usually 0, and cheaper to read than a task-local value.
    static let running = Atomic(0)

    let keeper: ObjectIdentifier
    private let over = Atomic(false)

    init(_ keeper: ObjectIdentifier) { self.keeper = keeper }

    /// Tasks that the handler started inherit the scope and may outlive it.
    var isOver: Bool { over.load(ordering: .acquiring) }

    func run<Result>(_ body: () async throws -> Result) async rethrows -> Result {
        Self.running.add(1, ordering: .acquiringAndReleasing)
        defer {
            over.store(true, ordering: .releasing)
            Self.running.subtract(1, ordering: .acquiringAndReleasing)
        }
        return try await Self.$current.withValue(Self.current + [self]) { try await body() }
    }
}
