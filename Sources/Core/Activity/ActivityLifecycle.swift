import ErrandHTTP

extension ActivityRegistry {
    /// Registers, and notifies of will-start, before it returns; then the body runs in a task of its own, off the caller's actor.
    ///
    /// A caller that is on no actor may have it begin on its own thread (`inPlace`): that saves waking another one.
    ///
    /// - Parameter perform: puts the success into the result, and returns the response of a request.
    func launch<Success: Sendable>(
        _ activity: Activity, priority: TaskPriority? = nil, completion: Completion<Success>? = nil,
        inPlace: Bool = false, perform: @escaping @Sendable (ActivityResult) async throws -> HTTPResponse?
    ) -> RequestHandle<Success> {
        add(activity)
        activity.notify(.willStart)
        let result = ActivityResult()
        let deliver = completion.map { completion in
            { @Sendable in await completion.deliver(activity, Result { try result.get() }) }
        }
        let task: Task<Void, Never>
        if inPlace, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            if Task.isCancelled { activity.cancel(.task) }
            task = Task.immediate(priority: priority) { @concurrent in
                await self.run(activity, result, perform, deliver)
            }
        } else {
            task = Task(priority: priority) { @concurrent in await self.run(activity, result, perform, deliver) }
        }
        activity.attach(task)
        return RequestHandle(activity: activity, task: task, ended: result)
    }

    private func run(
        _ activity: Activity, _ result: ActivityResult,
        _ perform: @Sendable (ActivityResult) async throws -> HTTPResponse?, _ deliver: (@Sendable () async -> Void)?
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
        if activity.isDelivering { await activity.allDelivered() }
        if let deliver { await deliver() }
        activity.notifyLast(ActivityEvent.didStop)
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
