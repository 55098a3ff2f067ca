public import ErrandHTTP

/// A handle for a request, batch or chain that was started with `start`. Releasing it doesn't cancel the request.
public struct RequestHandle<Success: Sendable>: Sendable {
    private let running: RunningActivity
    private let read: @Sendable (ActivityResult) throws -> Success

    init(_ running: RunningActivity, read: @escaping @Sendable (ActivityResult) throws -> Success = { try $0.get() }) {
        (self.running, self.read) = (running, read)
    }

    /// The activity.
    public var activity: Activity { running.activity }

    /// Cancels the activity, unless its outcome is decided.
    public func cancel() { activity.cancel(.handle) }

    /// Whether the outcome isn't decided yet.
    public var isRunning: Bool { !activity.isOver }

    /// Whether the activity was cancelled.
    public var isCancelled: Bool { activity.isCancelled }

    /// How the activity ended. Nil while it's running.
    public var outcome: ActivityOutcome? { activity.outcome }

    /// The last progress that the transport or the ``Composite`` reported.
    public var progress: TransferProgress { activity.progress }

    /// The output. Waits until the activity has ended and its accessories have been notified of the end. Throws the
    /// activity's error.
    ///
    /// Cancelling the awaiting task doesn't cancel the activity.
    public var value: Success {
        get async throws {
            await running.task.value
            return try read(running.result)
        }
    }

    /// The ``value`` or the activity's error. Waits until accessories have received did-stop.
    public var result: Result<Success, any Error> {
        get async {
            await running.task.value
            return Result { try read(running.result) }
        }
    }

    /// Waits for the output like ``value``, but cancelling the awaiting task also cancels the activity.
    func joined() async throws -> Success {
        await running.joined()
        return try read(running.result)
    }
}

extension RequestHandle: CustomStringConvertible {
    /// The activity and its state on one line, such as "request #7 GetUser: running".
    public var description: String { "\(activity): \(outcome.map { "\($0)" } ?? "running")" }
}
