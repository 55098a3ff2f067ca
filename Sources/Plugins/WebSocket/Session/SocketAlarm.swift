import Errand
import Synchronization

/// The limits of a socket's waits, all by one timer.
///
/// The timer is left alone if it fires early enough. So a limit that is met costs no task, however many there are.
final class SocketAlarm: Sendable {
    private typealias Limit = (instant: ContinuousClock.Instant, action: @Sendable () -> Void)

    private struct State {
        var limits: [UInt64: Limit] = [:]
        var last: UInt64 = 0
        /// When the timer fires; nil while there is none.
        var fires: ContinuousClock.Instant?
        var timer: Task<Void, Never>?
        var isOver = false
    }

    private let state = Mutex(State())

    deinit { stop() }

    /// Calls an action once an instant has come, unless ``unset(_:)`` comes first. Brief, from any thread.
    func set(
        at instant: ContinuousClock.Instant, _ time: any TimeSource, _ action: @escaping @Sendable () -> Void
    ) -> UInt64 {
        let (number, stale) = state.withLock { state in
            state.last += 1
            state.limits[state.last] = (instant, action)
            return (state.last, arm(&state, at: instant, time))
        }
        stale?.cancel()
        return number
    }

    func unset(_ number: UInt64) {
        let limit = state.withLock { $0.limits.removeValue(forKey: number) }
        withExtendedLifetime(limit) {}
    }

    /// The socket has ended.
    func stop() {
        let (timer, limits) = state.withLock { state in
            defer { (state.timer, state.limits, state.isOver) = (nil, [:], true) }
            return (state.timer, state.limits)
        }
        withExtendedLifetime(limits) {}
        timer?.cancel()
    }

    /// Returns the timer that is replaced, to be cancelled outside of the lock: that runs code of the time source.
    private func arm(
        _ state: inout State, at instant: ContinuousClock.Instant, _ time: any TimeSource
    ) -> Task<Void, Never>? {
        if state.isOver { return nil }
        if let fires = state.fires, fires <= instant { return nil }
        let stale = state.timer
        state.fires = instant
        state.timer = Task { [weak self] in
            do { try await time.sleep(until: instant) } catch {
                if !Task.isCancelled { await Self.pause(time.now.duration(to: instant)) }
            }
            if !Task.isCancelled { self?.fire(time) }
        }
        return stale
    }

    /// Takes the place of a time source that does not sleep; long enough not to keep a processor busy.
    private static func pause(_ duration: Duration) async {
        try? await Task.sleep(for: max(duration.bounded, .milliseconds(10)))
    }

    private func fire(_ time: any TimeSource) {
        let now = time.now
        let due = state.withLock { state in
            state.fires = nil
            let due = state.limits.filter { $0.value.instant <= now }
            for number in due.keys { state.limits[number] = nil }
            // The timer that is replaced is the one that has just fired.
            if let next = state.limits.values.map(\.instant).min() { _ = arm(&state, at: next, time) }
            return due
        }
        for limit in due.values { limit.action() }
    }
}
