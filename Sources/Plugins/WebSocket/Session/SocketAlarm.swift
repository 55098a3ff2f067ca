import Errand
import Synchronization

/// A single timer for all of a socket's timeouts. A timeout that doesn't expire doesn't need a task.
final class SocketAlarm: Sendable {
    private typealias Limit = (instant: ContinuousClock.Instant, action: @Sendable () -> Void)

    private struct State {
        var limits: [UInt64: Limit] = [:]
        var last: UInt64 = 0
        var fires: ContinuousClock.Instant?
        var timer: Task<Void, Never>?
        var isOver = false
    }

    private let state = Mutex(State())

    deinit { stop() }

    /// Sets a timeout. Returns the timeout's number for ``unset(_:)``. The action must be brief, and runs on any
    /// thread.
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

    func stop() {
        let (timer, limits) = state.withLock { state in
            defer { (state.timer, state.limits, state.isOver) = (nil, [:], true) }
            return (state.timer, state.limits)
        }
        withExtendedLifetime(limits) {}
        timer?.cancel()
    }

    /// Starts a timer, unless a running timer fires earlier. Returns the timer that it replaces. Cancel this timer
    /// after unlocking, because cancelling runs the time source's code.
    private func arm(
        _ state: inout State, at instant: ContinuousClock.Instant, _ time: any TimeSource
    ) -> Task<Void, Never>? {
        if state.isOver { return nil }
        if let fires = state.fires, fires <= instant { return nil }
        let stale = state.timer
        state.fires = instant
        state.timer = Task { [weak self] in
            await time.wait(until: instant)
            if !Task.isCancelled { self?.fire(time) }
        }
        return stale
    }

    private func fire(_ time: any TimeSource) {
        let now = time.now
        let due = state.withLock { state in
            state.fires = nil
            let due = state.limits.filter { $0.value.instant <= now }
            for number in due.keys { state.limits[number] = nil }
            if let next = state.limits.values.map(\.instant).min() { _ = arm(&state, at: next, time) }
            return due
        }
        for limit in due.values { limit.action() }
    }
}

enum TimeLimit {
    static func run<Value: Sendable>(
        _ limit: Duration, time: any TimeSource, _ operation: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await operation() }
            group.addTask {
                try await time.sleep(until: time.instant(after: limit))
                return nil
            }
            defer { group.cancelAll() }
            if let value = try await group.next() ?? nil { return value }
            throw ErrandError(.timedOut, "the server sent no bytes for \(duration: limit)")
        }
    }
}

/// The clock of a socket: the agent's clock, or the system's until the first exchange.
final class SocketClock: Sendable {
    private let known = Mutex<(any TimeSource)?>(nil)

    var time: any TimeSource { known.withLock { $0 } ?? SystemTimeSource() }

    func keep(_ time: any TimeSource) {
        let old = known.withLock { known in
            defer { known = time }
            return known
        }
        withExtendedLifetime(old) {}
    }
}
