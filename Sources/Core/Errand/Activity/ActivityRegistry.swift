import ErrandHTTP
import ErrandSupport
import Synchronization

/// The running activities of one agent, and their deadlines.
final class ActivityRegistry: Sendable {
    let time: any TimeSource
    private let state = Mutex(State())

    private typealias Entry = (activity: Activity, agent: (any AnyObject & Sendable)?)

    private struct Deadline: Comparable {
        let moment: ContinuousClock.Instant
        let id: UInt64
        static func < (a: Deadline, b: Deadline) -> Bool { a.moment < b.moment }
    }

    private struct State {
        var entries = NumberedTable<Entry>()
        /// The deadlines of the running activities, and of some activities that have ended.
        var deadlines = BinaryHeap<Deadline>()
        /// When the pending timer fires. Nil without a timer.
        var wakes: ContinuousClock.Instant?
        var timer: Task<Void, Never>?

        mutating func add(_ deadline: Deadline) {
            deadlines.insert(deadline)
            // Deadlines of ended activities stay until their moment, so they're removed from time to time.
            if deadlines.count <= 2 * entries.count + 64 { return }
            var running = BinaryHeap<Deadline>()
            for activity in entries.all.map(\.activity) {
                guard let moment = activity.deadline else { continue }
                running.insert(Deadline(moment: moment, id: activity.id.rawValue))
            }
            deadlines = running
        }

        /// Removes the deadlines that have passed, and returns the activities among them that are still running.
        mutating func takeOverdue(at now: ContinuousClock.Instant) -> [Activity] {
            var overdue: [Activity] = []
            while let first = deadlines.first, first.moment <= now || entries[first.id] == nil {
                _ = deadlines.popFirst()
                if let entry = entries[first.id] { overdue.append(entry.activity) }
            }
            return overdue
        }
    }

    init(time: any TimeSource) { self.time = time }

    deinit { state.withLock { $0.timer }?.cancel() }

    func add(_ activity: Activity, keeping agent: (any AnyObject & Sendable)?) {
        let stale = state.withLock { state in
            state.entries.add((activity, agent), for: activity.id.rawValue)
            return activity.deadline.flatMap { moment in
                state.add(Deadline(moment: moment, id: activity.id.rawValue))
                return wake(&state, at: moment)
            }
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
            let overdue = state.takeOverdue(at: now)
            // Ignore the timer that this one replaces, because it's the timer that has just fired.
            if let next = state.deadlines.first { _ = wake(&state, at: next.moment) }
            return overdue
        }
        for activity in overdue { activity.cancel(.deadline) }
    }

    @discardableResult
    func cancelAll(where matches: (Activity) -> Bool) -> Int {
        activities.filter(matches).count { $0.cancel(.agent) }
    }
}
