import ErrandHTTP

extension ActivityRegistry {
    /// Registers, and notifies of will-start, before it returns; then the body runs in a task of its own, off the caller's actor.
    ///
    /// A caller that is on no actor may have it begin on its own thread (`inPlace`): that saves waking another one.
    func launch<Success: Sendable>(
        _ activity: Activity, priority: TaskPriority? = nil, completion: Completion<Success>? = nil,
        inPlace: Bool = false,
        http: @escaping @Sendable (Success) -> HTTPResponse? = { _ in nil },
        body: @escaping @Sendable (Activity) async throws -> Success
    ) -> Task<Success, any Error> {
        add(activity)
        activity.notify(.willStart)
        let task: Task<Success, any Error>
        if inPlace, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            if Task.isCancelled { activity.cancel(.task) }
            task = Task.immediate(priority: priority) { @concurrent in
                try await self.run(activity, completion, http, body)
            }
        } else {
            task = Task(priority: priority) { @concurrent in
                try await self.run(activity, completion, http, body)
            }
        }
        activity.attach(task)
        return task
    }

    private func run<Success: Sendable>(
        _ activity: Activity, _ completion: Completion<Success>?, _ http: (Success) -> HTTPResponse?,
        _ body: (Activity) async throws -> Success
    ) async throws -> Success {
        var success: Success?
        var failure: (any Error)?
        do {
            if activity.isCancelled { throw CancellationError() }
            success = try await body(activity)
            try await activity.commit()
        } catch {
            failure = error
            await activity.discard()
        }
        let settled = activity.settle(failure, http: success.flatMap(http))
        activity.notifyLast(.willStop(settled.outcome))
        // Released before the callbacks: in a program whose main thread is blocked they never run.
        remove(activity)
        await activity.allDelivered()
        if let completion {
            let result: Result<Success, any Error> =
                if let success, settled.failure == nil { .success(success) } else {
                    .failure(settled.failure ?? CancellationError())
                }
            await completion.deliver(activity, result)
        }
        activity.notifyLast(.didStop(settled.outcome))
        guard let success, settled.failure == nil else { throw settled.failure ?? CancellationError() }
        return success
    }
}
