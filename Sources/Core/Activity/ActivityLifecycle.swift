import ErrandHTTP
import Synchronization

extension ActivityRegistry {
    /// Registers, and notifies of will-start, before it returns; then the body runs in a task of its own, off the caller's actor.
    ///
    /// - Parameters:
    ///   - agent: lives until the outcome is decided.
    ///   - inPlace: whether a caller that is on no actor has it begin on its own thread, which saves waking another one.
    ///   - completion: awaited between will-stop and did-stop.
    ///   - perform: puts the success into the result, and returns the response of a request.
    func launch(
        _ activity: Activity, keeping agent: (any AnyObject & Sendable)? = nil, priority: TaskPriority? = nil,
        inPlace: Bool = false, completion: (@Sendable (ActivityResult) async -> Void)? = nil,
        perform: @escaping @Sendable (ActivityResult) async throws -> HTTPResponse?
    ) -> RunningActivity {
        add(activity, keeping: agent)
        activity.notify(.willStart)
        let result = ActivityResult()
        let task: Task<Void, Never>
        if inPlace, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            if Task.isCancelled { activity.cancel(.task) }
            task = Task.immediate(priority: priority) { @concurrent in
                await self.run(activity, result, perform, completion)
            }
        } else {
            task = Task(priority: priority) { @concurrent in await self.run(activity, result, perform, completion) }
        }
        let isDone = inPlace && result.isComplete.load(ordering: .acquiring)
        if !isDone { activity.attach(task) }
        return RunningActivity(activity: activity, task: task, result: result, isDone: isDone)
    }

    private func run(
        _ activity: Activity, _ result: ActivityResult,
        _ perform: @Sendable (ActivityResult) async throws -> HTTPResponse?,
        _ completion: (@Sendable (ActivityResult) async -> Void)?
    ) async {
        do {
            if activity.isCancelled { throw CancellationError() }
            let http = try await perform(result)
            try activity.accept()
            if activity.hasStagedWork { await activity.commit() }
            settle(activity, result, nil, http)
        } catch {
            if activity.hasStagedWork { await activity.discard() }
            settle(activity, result, error, nil)
        }
        if let events = activity.events, events.isDelivering { await events.allDelivered() }
        if let completion { await completion(result) }
        activity.notifyLast(ActivityEvent.didStop)
        activity.events?.close()
        result.isComplete.store(true, ordering: .releasing)
    }

    /// Decides the outcome, and notifies of will-stop.
    @inline(never) private func settle(
        _ activity: Activity, _ result: ActivityResult, _ failure: (any Error)?, _ http: HTTPResponse?
    ) {
        if let failure = activity.settle(failure, http: http) { result.fail(failure) }
        activity.notifyLast(ActivityEvent.willStop)
        // Released before the callbacks: in a program whose main thread is blocked they never run.
        remove(activity)
    }
}

/// An activity that was started, with the task that carries it out.
struct RunningActivity: Sendable {
    let activity: Activity
    let task: Task<Void, Never>
    let result: ActivityResult
    /// Whether it has ended before the start returned.
    let isDone: Bool

    /// Waits for did-stop; cancelling the task that waits cancels the activity.
    @inline(__always) func joined() async {
        if isDone { return }
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            activity.cancel(.task)
        }
    }
}
