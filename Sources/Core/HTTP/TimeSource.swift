public import ErrandEssentials
import ErrandSupport
import Synchronization

/// The clock of an agent, its filters and its transport; a test uses a manual one.
public protocol TimeSource: Sendable {
    /// The instant to measure intervals with: never jumps.
    var now: ContinuousClock.Instant { get }
    /// The calendar date: may jump.
    var date: Date { get }
    /// Sleeps until an instant. Throws `CancellationError` when the task is cancelled.
    func sleep(until instant: ContinuousClock.Instant) async throws
}

/// The system's clocks; the default.
public struct SystemTimeSource: TimeSource {
    /// The clocks of the system.
    public init() {}
    /// The continuous clock.
    public var now: ContinuousClock.Instant { .now }
    /// The wall clock.
    public var date: Date { Date() }
    /// Sleeps on the continuous clock; throws `CancellationError` when its task is cancelled.
    public func sleep(until instant: ContinuousClock.Instant) async throws {
        // The system counts 64 bits of seconds, and crashes beyond.
        let bounded = min(max(instant, now), self.instant(after: .seconds(Int64.max)))
        try await SleepingTasks.shared.sleep(until: bounded)
    }
}

extension TimeSource {
    /// The instant after a duration from now, such as a limit or a delay that a user passes, however large.
    ///
    /// ```swift
    /// try await exchange.time.sleep(until: exchange.time.instant(after: .seconds(5)))
    /// ```
    ///
    /// A negative duration counts as zero, one over a hundred years as that.
    public func instant(after duration: Duration) -> ContinuousClock.Instant { now.advanced(by: duration.bounded) }
}

extension Duration {
    /// The duration within zero and a hundred years, so that no sum with a point in time overflows.
    ///
    /// ```swift
    /// let end = ContinuousClock.now.advanced(by: exchange.timeout.bounded)
    /// ```
    public var bounded: Duration { min(max(self, .zero), .seconds(3_155_760_000 as Int64)) }
}

/// Suspends tasks until instants of the continuous clock, many of them by one timer.
///
/// A cancelled `Task.sleep` ends at once, but the runtime keeps its timer, some 700 bytes, until the instant. Most limits
/// of time are cancelled early, once for each request or message: their timers would fill the memory. Here a sleep that
/// is cancelled leaves nothing. A timer that is set is never cancelled; whatever is due when it fires is resumed.
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
        /// Those of cancelled sleeps are among them.
        var alarms = BinaryHeap<Alarm>()
        /// When the timers that are set fire: each was set because it is earlier than those before it.
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

        /// The continuations of the sleeps that are over.
        mutating func takeDue(at now: ContinuousClock.Instant) -> [Continuation] {
            var due: [Continuation] = []
            while let alarm = alarms.first, alarm.instant <= now || sleepers[alarm.number] == nil {
                _ = alarms.popFirst()
                if let sleeper = sleepers.removeValue(forKey: alarm.number) { due.append(sleeper.continuation) }
            }
            return due
        }

        /// The instant of a timer to set, so that the next sleep ends in time; nil if one is early enough.
        mutating func nextTimer() -> ContinuousClock.Instant? {
            guard let next = alarms.first?.instant else { return nil }
            if let earliest = timers.last, earliest <= next { return nil }
            timers.append(next)
            return next
        }
    }

    private let state = Mutex(State())

    /// The number of sleeps, and of instants that are kept for them.
    var counts: (sleeps: Int, alarms: Int) { state.withLock { ($0.sleepers.count, $0.alarms.count) } }

    /// Throws `CancellationError` when the task is cancelled.
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
        // A task that waits for it may be of any priority.
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
