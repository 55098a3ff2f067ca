import ErrandSupport
import Synchronization

/// Suspends tasks until instants of the continuous clock. Shares one timer between many sleeps.
///
/// A cancelled `Task.sleep` keeps its timer, about 700 bytes, until the instant. Most timeouts are cancelled early, so
/// the timers of many requests would fill memory. Here, a timer is never cancelled. When it fires, it resumes every
/// sleep that is due.
final class SleepingTasks: Sendable {
    static let shared = SleepingTasks()

    private typealias Continuation = CheckedContinuation<Void, any Error>

    private struct Alarm: Comparable {
        let instant: ContinuousClock.Instant
        let number: UInt64

        static func < (a: Alarm, b: Alarm) -> Bool { a.instant < b.instant }
    }

    private struct State {
        var sleepers: [UInt64: (continuation: Continuation, instant: ContinuousClock.Instant)] = [:]
        /// The alarms of all sleeps. A cancelled sleep's alarm stays until it's due or the heap is rebuilt.
        var alarms = BinaryHeap<Alarm>()
        /// The instants of the pending timers, latest first, because each new timer fires before the others.
        var timers: [ContinuousClock.Instant] = []
        var last: UInt64 = 0

        mutating func add(_ continuation: Continuation, _ number: UInt64, until instant: ContinuousClock.Instant) {
            if alarms.count > 2 * sleepers.count + 64 {
                alarms = BinaryHeap()
                for (number, sleeper) in sleepers { alarms.insert(Alarm(instant: sleeper.instant, number: number)) }
            }
            sleepers[number] = (continuation, instant)
            alarms.insert(Alarm(instant: instant, number: number))
        }

        mutating func takeDue(at now: ContinuousClock.Instant) -> [Continuation] {
            var due: [Continuation] = []
            while let alarm = alarms.first, alarm.instant <= now || sleepers[alarm.number] == nil {
                _ = alarms.popFirst()
                if let sleeper = sleepers.removeValue(forKey: alarm.number) { due.append(sleeper.continuation) }
            }
            return due
        }

        /// Returns the instant for a new timer, or `nil` if a pending timer fires early enough.
        mutating func nextTimer() -> ContinuousClock.Instant? {
            guard let next = alarms.first?.instant else { return nil }
            if let earliest = timers.last, earliest <= next { return nil }
            timers.append(next)
            return next
        }
    }

    private let state = Mutex(State())

    var counts: (sleeps: Int, alarms: Int) { state.withLock { ($0.sleepers.count, $0.alarms.count) } }

    func sleep(until instant: ContinuousClock.Instant) async throws {
        if instant <= .now {
            await Task.yield()
            return try Task.checkCancellation()
        }
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let timer = state.withLock { state in
                    state.add(continuation, number, until: instant)
                    return state.nextTimer()
                }
                if let timer { set(timer) }
                if Task.isCancelled { cancel(number) }
            }
        } onCancel: {
            cancel(number)
        }
    }

    private func cancel(_ number: UInt64) {
        let sleeper = state.withLock { $0.sleepers.removeValue(forKey: number) }
        sleeper?.continuation.resume(throwing: CancellationError())
    }

    private func set(_ instant: ContinuousClock.Instant) {
        // The priority is high because tasks of any priority may wait for the timer.
        Task.detached(priority: .high) {
            try? await Task.sleep(until: instant, clock: .continuous)
            self.fire(instant)
        }
    }

    private func fire(_ instant: ContinuousClock.Instant) {
        let (due, timer) = state.withLock { state in
            if let index = state.timers.lastIndex(of: instant) { state.timers.remove(at: index) }
            let due = state.takeDue(at: .now)
            return (due, state.nextTimer())
        }
        for continuation in due { continuation.resume() }
        if let timer { set(timer) }
    }
}
