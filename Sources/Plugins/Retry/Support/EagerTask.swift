import Synchronization

/// A task that begins on its caller's thread where the system allows that: what does not wait then needs no other thread,
/// and no timer.
struct EagerTask<Success: Sendable>: Sendable {
    private final class Mark: Sendable {
        let isSet = Atomic(false)
    }

    private let task: Task<Success, any Error>
    private let mark: Mark

    init(_ body: @escaping @Sendable () async throws -> Success) {
        let mark = Mark()
        self.mark = mark
        if #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            task = Task.immediate { @concurrent in
                defer { mark.isSet.store(true, ordering: .releasing) }
                return try await body()
            }
        } else {
            task = Task { @concurrent in
                defer { mark.isSet.store(true, ordering: .releasing) }
                return try await body()
            }
        }
    }

    /// Whether it has an end already.
    var isFinished: Bool { mark.isSet.load(ordering: .acquiring) }

    /// What it returns or throws, whatever cancels the task that waits.
    var value: Success { get async throws { try await task.value } }

    var result: Result<Success, any Error> { get async { await task.result } }

    func cancel() { task.cancel() }

    /// What it returns or throws; cancelled with the task that waits.
    func joined() async throws -> Success {
        try await withTaskCancellationHandler {
            try await task.value
        } onCancel: {
            task.cancel()
        }
    }
}
