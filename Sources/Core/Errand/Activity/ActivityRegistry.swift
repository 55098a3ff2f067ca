import ErrandHTTP
import Synchronization

/// The running activities of one agent, and their deadlines.
final class ActivityRegistry: Sendable {
    let time: any TimeSource
    private let state = Mutex(State())

    /// The agent lives as long as what it runs.
    private typealias Entry = (activity: Activity, agent: (any AnyObject & Sendable)?)

    private struct State {
        var entries: [Activity.ID: Entry] = [:]
        /// When the one timer looks for passed deadlines; nil while it is not set.
        var wakes: ContinuousClock.Instant?
        var timer: Task<Void, Never>?
    }

    init(time: any TimeSource) { self.time = time }

    deinit { state.withLock { $0.timer }?.cancel() }

    func add(_ activity: Activity, keeping agent: (any AnyObject & Sendable)?) {
        let stale = state.withLock { state in
            state.entries[activity.id] = (activity, agent)
            return activity.deadline.flatMap { wake(&state, at: $0) }
        }
        stale?.cancel()
    }

    func remove(_ activity: Activity) {
        let entry = state.withLock { $0.entries.removeValue(forKey: activity.id) }
        // The agent may end with it, and its registry with that: not under the lock.
        withExtendedLifetime(entry) {}
    }

    /// Those that run, in the order of their start.
    var activities: [Activity] {
        state.withLock { $0.entries.values.map(\.activity) }.sorted { $0.id.rawValue < $1.id.rawValue }
    }

    /// Sets the timer. It is left alone when it looks early enough; so a deadline costs nothing but a comparison, and a
    /// look, of the few that run, happens about once in the length of a deadline.
    ///
    /// Returns the timer that is no longer needed, to be cancelled outside of the lock: that runs code of the time
    /// source.
    private func wake(_ state: inout State, at moment: ContinuousClock.Instant) -> Task<Void, Never>? {
        if let wakes = state.wakes, wakes <= moment { return nil }
        let stale = state.timer
        state.wakes = moment
        state.timer = Task.detached { [time, weak self] in
            do { try await time.sleep(until: moment) } catch {
                if !Task.isCancelled { await Self.pause(time.now.duration(to: moment)) }
            }
            // A cancelled one has been replaced.
            if !Task.isCancelled { self?.cancelOverdue() }
        }
        return stale
    }

    /// Takes the place of a time source that does not sleep: the deadlines depend on this one timer. Long enough not to
    /// keep a processor busy.
    private static func pause(_ duration: Duration) async {
        try? await Task.sleep(for: max(duration.bounded, .milliseconds(10)))
    }

    private func cancelOverdue() {
        let now = time.now
        let overdue = state.withLock { state in
            state.wakes = nil
            let running = state.entries.values.lazy.map(\.activity)
            let deadlines = running.compactMap(\.deadline)
            // The timer that is replaced is the one that has just rung.
            if let next = deadlines.filter({ $0 > now }).min() { _ = wake(&state, at: next) }
            return running.filter { $0.deadline.map { $0 <= now } ?? false }
        }
        for activity in overdue { activity.cancel(.deadline) }
    }

    /// Cancels the activities that match, and returns how many it cancelled.
    @discardableResult
    func cancelAll(where matches: (Activity) -> Bool) -> Int {
        activities.filter(matches).count { $0.cancel(.agent) }
    }
}
