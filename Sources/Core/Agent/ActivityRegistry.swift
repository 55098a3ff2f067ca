import Synchronization

/// The running activities of one agent and their deadlines: starts them, ends them, finds them.
final class ActivityRegistry: Sendable {
    let time: any TimeSource
    private let deadlines: Deadlines
    private let running = Mutex<[Activity.ID: Activity]>([:])

    init(time: any TimeSource) {
        self.time = time
        deadlines = Deadlines(time: time)
    }

    var activities: [Activity] { running.withLock { Array($0.values) } }

    /// Registers and tells will-start before it returns; then the body runs in a task of its own, off the caller's actor.
    func launch<Success: Sendable>(
        _ activity: Activity, priority: TaskPriority? = nil, deadline: Duration? = nil,
        completion: Completion<Success>? = nil, http: @escaping @Sendable (Success) -> HTTPResponse? = { _ in nil },
        body: @escaping @Sendable (Activity) async throws -> Success
    ) -> Task<Success, any Error> {
        running.withLock { $0[activity.id] = activity }
        activity.tell(.willStart)
        if let deadline { deadlines.add(activity, at: time.instant(after: deadline)) }
        let task = Task(priority: priority) { @concurrent in
            var result: Result<Success, any Error>
            do {
                if activity.isCancelled { throw CancellationError() }
                result = .success(try await body(activity))
            } catch { result = .failure(error) }
            let outcome: ActivityOutcome
            let staged: [StagedWork]
            (result, outcome, staged) = activity.settle(result, http: http)
            if deadline != nil { self.deadlines.remove(activity) }
            for work in staged {
                if case .success = result { await work.commit() } else { await work.discard() }
            }
            activity.tell(.willStop(outcome))
            // Released before the callbacks: in a program whose main thread is blocked they never run.
            self.running.withLock { $0[activity.id] = nil }
            await activity.allTold()
            if let completion { await completion.deliver(activity, result) }
            activity.tell(.didStop(outcome))
            return try result.get()
        }
        activity.attach(task)
        return task
    }

    /// The number of those that this cancelled.
    @discardableResult
    func cancelAll(where matches: (Activity) -> Bool) -> Int {
        activities.filter(matches).count { $0.cancel(.agent) }
    }
}

extension TimeSource {
    /// A point in time from now; a hundred years at most, so that no sum overflows.
    func instant(after duration: Duration) -> ContinuousClock.Instant {
        now.advanced(by: min(max(duration, .zero), .seconds(3_155_760_000)))
    }
}
