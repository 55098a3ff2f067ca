import Synchronization

/// The running activities of one agent and their deadlines: starts them, ends them, finds them.
final class ActivityRegistry: Sendable {
    let time: any TimeSource
    private let state = Mutex(State())

    private struct State {
        var running: [Activity.ID: Activity] = [:]
        /// When the one timer looks for passed deadlines; nil while it is not set.
        var wakes: ContinuousClock.Instant?
        var timer: Task<Void, Never>?
    }

    init(time: any TimeSource) { self.time = time }

    deinit { state.withLock { $0.timer }?.cancel() }

    var activities: [Activity] { state.withLock { Array($0.running.values) } }

    /// Registers and tells will-start before it returns; then the body runs in a task of its own, off the caller's actor.
    ///
    /// A caller that is on no actor may have it begin on its own thread (`inPlace`): that saves waking another one.
    func launch<Success: Sendable>(
        _ activity: Activity, priority: TaskPriority? = nil, completion: Completion<Success>? = nil,
        inPlace: Bool = false,
        http: @escaping @Sendable (Success) -> HTTPResponse? = { _ in nil },
        body: @escaping @Sendable (Activity) async throws -> Success
    ) -> Task<Success, any Error> {
        let stale = state.withLock { state in
            state.running[activity.id] = activity
            return activity.deadline.flatMap { wake(&state, at: $0) }
        }
        stale?.cancel()
        activity.tell(.willStart)
        let task: Task<Success, any Error>
        if inPlace, #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) {
            if Task.isCancelled { activity.cancel(.task) }
            task = Task.immediate(priority: priority) { @concurrent in
                try await self.carryOut(activity, completion, http, body)
            }
        } else {
            task = Task(priority: priority) { @concurrent in
                try await self.carryOut(activity, completion, http, body)
            }
        }
        activity.attach(task)
        return task
    }

    private func carryOut<Success: Sendable>(
        _ activity: Activity, _ completion: Completion<Success>?, _ http: (Success) -> HTTPResponse?,
        _ body: (Activity) async throws -> Success
    ) async throws -> Success {
        var success: Success?
        var failure: (any Error)?
        do {
            if activity.isCancelled { throw CancellationError() }
            success = try await body(activity)
        } catch { failure = error }
        let settled = activity.settle(failure, http: success.flatMap(http))
        for work in settled.staged {
            if settled.failure == nil { await work.commit() } else { await work.discard() }
        }
        activity.tellLast(.willStop(settled.outcome))
        // Released before the callbacks: in a program whose main thread is blocked they never run.
        state.withLock { $0.running[activity.id] = nil }
        await activity.allTold()
        if let completion {
            let result: Result<Success, any Error> =
                if let success, settled.failure == nil { .success(success) } else {
                    .failure(settled.failure ?? CancellationError())
                }
            await completion.deliver(activity, result)
        }
        activity.tellLast(.didStop(settled.outcome))
        guard let success, settled.failure == nil else { throw settled.failure ?? CancellationError() }
        return success
    }

    /// Sets the timer. It is left alone when it looks early enough; so a deadline costs nothing but a comparison, and a
    /// look, of the few that run, happens about once in the length of a deadline.
    ///
    /// Returns the timer that is no longer needed, to be cancelled outside of the lock: that runs code of the time source.
    private func wake(_ state: inout State, at instant: ContinuousClock.Instant) -> Task<Void, Never>? {
        if let wakes = state.wakes, wakes <= instant { return nil }
        let stale = state.timer
        state.wakes = instant
        state.timer = Task.detached { [time, weak self] in
            do { try await time.sleep(until: instant) } catch { return }
            self?.cancelOverdue()
        }
        return stale
    }

    private func cancelOverdue() {
        let now = time.now
        let overdue = state.withLock { state in
            state.wakes = nil
            let deadlines = state.running.values.compactMap(\.deadline)
            // The timer that is replaced is the one that has just rung.
            if let next = deadlines.filter({ $0 > now }).min() { _ = wake(&state, at: next) }
            return state.running.values.filter { $0.deadline.map { $0 <= now } ?? false }
        }
        for activity in overdue { activity.cancel(.deadline) }
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
