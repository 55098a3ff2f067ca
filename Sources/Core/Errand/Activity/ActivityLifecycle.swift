import ErrandHTTP
import Synchronization

extension ActivityRegistry {
    /// Notifies the accessories of will-start, then runs the activity in a separate task, off the caller's actor.
    ///
    /// - Parameters:
    ///   - agent: Kept alive until the outcome is decided.
    ///   - completion: Awaited between will-stop and did-stop.
    ///   - perform: Stores the success in the result, and returns a request's response.
    func launch(
        _ activity: Activity, keeping agent: (any AnyObject & Sendable)? = nil, priority: TaskPriority? = nil,
        completion: (@Sendable (ActivityResult) async -> Void)? = nil,
        perform: @escaping @Sendable (ActivityResult) async throws -> HTTPResponse?
    ) -> RunningActivity {
        launch(activity, keeping: agent, inPlace: false) { result in
            Task(priority: priority) { @concurrent in
                var received: Result<HTTPResponse?, any Error> = .failure(CancellationError())
                if !activity.isCancelled {
                    do { received = .success(try await perform(result)) } catch { received = .failure(error) }
                }
                await self.end(activity, received: received, result: result, completion: completion)
            }
        }
    }

    /// Notifies the accessories of will-start and starts the activity's task, which must end the activity.
    ///
    /// - Parameter inPlace: Whether the task begins on this thread.
    func launch(
        _ activity: Activity, keeping agent: (any AnyObject & Sendable)?, inPlace: Bool,
        in makeTask: (ActivityResult) -> Task<Void, Never>
    ) -> RunningActivity {
        add(activity, keeping: agent)
        activity.notify(.willStart)
        if inPlace, Task.isCancelled { activity.cancel(.task) }
        let result = ActivityResult()
        let task = makeTask(result)
        let isDone = inPlace && result.isComplete.load(ordering: .acquiring)
        if !isDone { activity.attach(task) }
        return RunningActivity(activity: activity, task: task, result: result, isDone: isDone)
    }

    @inline(__always) func end(
        _ activity: Activity, received: Result<HTTPResponse?, any Error>, result: ActivityResult,
        completion: (@Sendable (ActivityResult) async -> Void)?
    ) async {
        // Each kind of rare work has a single suspension point, because each suspension point enlarges the async frame
        // of every request.
        let decided = decide(activity, received)
        if activity.ledger.hasStagedWork { await finishStagedWork(of: activity, decided) }
        settle(activity, decided, result: result)
        if completion != nil || activity.events?.isDelivering == true {
            await finishDelivery(of: activity, result, completion)
        }
        stop(activity, result)
    }

    @inline(never) private func decide(
        _ activity: Activity, _ received: Result<HTTPResponse?, any Error>
    ) -> Result<HTTPResponse?, any Error> {
        do {
            _ = try received.get()
            try activity.accept()
            return received
        } catch { return .failure(error) }
    }

    @inline(never) private func finishStagedWork(
        of activity: Activity, _ decided: Result<HTTPResponse?, any Error>
    ) async {
        switch decided {
        case .success: await activity.commitStagedWork()
        case .failure: await activity.discardStagedWork()
        }
    }

    @inline(never) private func finishDelivery(
        of activity: Activity, _ result: ActivityResult, _ completion: (@Sendable (ActivityResult) async -> Void)?
    ) async {
        if let events = activity.events, events.isDelivering { await events.allDelivered() }
        if let completion { await completion(result) }
    }

    @inline(never) private func settle(
        _ activity: Activity, _ decided: Result<HTTPResponse?, any Error>, result: ActivityResult
    ) {
        let settled =
            switch decided {
            case .success(let http): activity.settle(nil, http: http)
            case .failure(let error): activity.settle(error, http: nil)
            }
        if let failure = settled.failure { result.fail(failure) }
        activity.notifyLast(.willStop(settled.outcome), end: .events)
        // Remove the activity before the callbacks, because they never run if the main thread is blocked.
        remove(activity)
    }

    @inline(never) private func stop(_ activity: Activity, _ result: ActivityResult) {
        if activity.events != nil, let outcome = activity.outcome { activity.notifyLast(.didStop(outcome), end: .all) }
        result.isComplete.store(true, ordering: .releasing)
    }
}

@usableFromInline struct RunningActivity: Sendable {
    let activity: Activity
    let task: Task<Void, Never>
    @usableFromInline let result: ActivityResult
    /// Whether the activity ended before `launch` returned.
    @usableFromInline let isDone: Bool

    /// Returns once accessories have received did-stop.
    @usableFromInline func joined() async {
        await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            activity.cancel(.task)
        }
    }
}
