public import ErrandHTTP

/// A started request, batch or chain: look at it, cancel it, await it. Dropping the handle changes nothing.
public struct RequestHandle<Success: Sendable>: Sendable {
    private let running: RunningActivity
    private let read: @Sendable (ActivityResult) throws -> Success

    init(_ running: RunningActivity, read: @escaping @Sendable (ActivityResult) throws -> Success = { try $0.get() }) {
        (self.running, self.read) = (running, read)
    }

    /// The identity of what was started, with its progress and outcome.
    public var activity: Activity { running.activity }

    /// Cancels the activity, unless its outcome is decided.
    public func cancel() { activity.cancel(.handle) }

    /// From the start until the outcome is decided.
    public var isRunning: Bool { !activity.isOver }

    /// Whether something has cancelled it.
    public var isCancelled: Bool { activity.isCancelled }

    /// Nil while it runs.
    public var outcome: ActivityOutcome? { activity.outcome }

    /// The last progress that the transport or the composite reported.
    public var progress: TransferProgress { activity.progress }

    /// The result, after did-stop. Cancelling the task that waits here does not cancel the activity.
    public var value: Success {
        get async throws {
            await running.task.value
            return try read(running.result)
        }
    }

    /// The result, after did-stop, as a value.
    public var result: Result<Success, any Error> {
        get async {
            await running.task.value
            return Result { try read(running.result) }
        }
    }

    /// The result; cancelling the task that waits cancels the activity.
    func joined() async throws -> Success {
        await running.joined()
        return try read(running.result)
    }
}
