public import ErrandHTTP

/// A started request, batch or chain: look at it, cancel it, await it. Dropping the handle changes nothing.
public struct RequestHandle<Success: Sendable>: Sendable {
    /// The identity of what was started, with its progress and outcome.
    public let activity: Activity
    private let task: Task<Void, Never>
    private let ended: ActivityResult

    init(activity: Activity, task: Task<Void, Never>, ended: ActivityResult) {
        self.activity = activity
        self.task = task
        self.ended = ended
    }

    /// Cancels the activity, unless its outcome is decided.
    public func cancel() { activity.cancel(.handle) }

    /// From the start until the outcome is decided.
    public var isRunning: Bool { !activity.isOver }

    /// Whether something has cancelled it.
    public var isCancelled: Bool { activity.isCancelled }

    /// Nil while it runs.
    public var outcome: ActivityOutcome? { activity.outcome }

    /// The last progress that the transport or the composite told.
    public var progress: TransferProgress { activity.progress }

    /// The result, after did-stop. Cancelling the task that waits here does not cancel the activity.
    public var value: Success {
        get async throws {
            await task.value
            return try ended.get()
        }
    }

    /// The result, after did-stop, as a value.
    public var result: Result<Success, any Error> {
        get async {
            await task.value
            return Result { try ended.get() }
        }
    }

    /// The result; cancelling the task that waits cancels the activity.
    func joined() async throws -> Success {
        if isRunning {
            await withTaskCancellationHandler {
                await task.value
            } onCancel: {
                activity.cancel(.task)
            }
        } else {
            await task.value
        }
        return try ended.get()
    }
}
