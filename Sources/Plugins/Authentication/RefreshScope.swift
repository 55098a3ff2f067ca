import Synchronization

/// One run of a handler, so that a request of a handler never waits for that handler.
final class RefreshScope: Sendable {
    @TaskLocal static var current: [RefreshScope] = []
    /// The number of handlers that run in this process: usually none, and reading it costs less than looking at the
    /// task.
    static let running = Atomic(0)

    let keeper: ObjectIdentifier
    private let over = Atomic(false)

    init(_ keeper: ObjectIdentifier) { self.keeper = keeper }

    /// A task that the handler has started inherits the mark and may outlive it.
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
