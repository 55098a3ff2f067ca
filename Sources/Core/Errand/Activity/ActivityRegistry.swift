import ErrandHTTP
import ErrandSupport
import Synchronization

/// The running activities of one agent, and their deadlines.
final class ActivityRegistry: Sendable {
    let time: any TimeSource
    private let state = Mutex(State())

    private typealias Entry = (activity: Activity, agent: (any AnyObject & Sendable)?)

    private struct State {
        var entries = NumberedTable<Entry>()
        /// When the pending timer fires. Nil without a timer.
        var wakes: ContinuousClock.Instant?
        var timer: Task<Void, Never>?
    }

    init(time: any TimeSource) { self.time = time }

    deinit { state.withLock { $0.timer }?.cancel() }

    func add(_ activity: Activity, keeping agent: (any AnyObject & Sendable)?) {
        let stale = state.withLock { state in
            state.entries.add((activity, agent), for: activity.id.rawValue)
            return activity.deadline.flatMap { wake(&state, at: $0) }
        }
        stale?.cancel()
    }

    func remove(_ activity: Activity) {
        let entry = state.withLock { $0.entries.remove(activity.id.rawValue) }
        // Release the entry outside the lock, because releasing it can deallocate the agent and this registry.
        withExtendedLifetime(entry) {}
    }

    var activities: [Activity] {
        state.withLock { $0.entries.all.map(\.activity) }.sorted { $0.id.rawValue < $1.id.rawValue }
    }

    /// Starts a timer for a moment, unless an earlier timer is pending. Returns the timer that it replaces. Cancel that
    /// timer outside the lock, because cancelling runs the time source's code.
    private func wake(_ state: inout State, at moment: ContinuousClock.Instant) -> Task<Void, Never>? {
        if let wakes = state.wakes, wakes <= moment { return nil }
        let stale = state.timer
        state.wakes = moment
        state.timer = Task.detached { [time, weak self] in
            await time.wait(until: moment)
            if !Task.isCancelled { self?.cancelOverdue() }
        }
        return stale
    }

    private func cancelOverdue() {
        let now = time.now
        let overdue = state.withLock { state in
            state.wakes = nil
            let running = state.entries.all.map(\.activity)
            let deadlines = running.compactMap(\.deadline)
            // Ignore the timer that this one replaces, because it's the timer that has just fired.
            if let next = deadlines.filter({ $0 > now }).min() { _ = wake(&state, at: next) }
            return running.filter { $0.deadline.map { $0 <= now } ?? false }
        }
        for activity in overdue { activity.cancel(.deadline) }
    }

    @discardableResult
    func cancelAll(where matches: (Activity) -> Bool) -> Int {
        activities.filter(matches).count { $0.cancel(.agent) }
    }
}
