public import ErrandEssentials
import ErrandSupport
import Synchronization

/// The clock of an agent, its filters and its transport. Tests can use a manual clock.
public protocol TimeSource: Sendable {
    /// The current instant, for measuring intervals. It never jumps.
    var now: ContinuousClock.Instant { get }
    /// The current calendar date, which may jump.
    var date: Date { get }
    /// Sleeps until an instant. Throws `CancellationError` if the task is cancelled.
    func sleep(until instant: ContinuousClock.Instant) async throws
}

/// The system's clocks. The default.
public struct SystemTimeSource: TimeSource {
    /// Creates a source that reads the system's clocks.
    public init() {}
    /// The continuous clock's time.
    public var now: ContinuousClock.Instant { .now }
    /// The wall clock's date.
    public var date: Date { Date() }
    /// Sleeps on the continuous clock. Throws `CancellationError` if the task is cancelled.
    public func sleep(until instant: ContinuousClock.Instant) async throws {
        // The system counts seconds in 64 bits and crashes beyond that.
        let bounded = min(max(instant, now), self.instant(after: .seconds(Int64.max)))
        try await SleepingTasks.shared.sleep(until: bounded)
    }
}

extension TimeSource {
    /// Returns the instant after a duration from now, safe for any limit or delay that a user passes.
    ///
    /// ```swift
    /// try await exchange.time.sleep(until: exchange.time.instant(after: .seconds(5)))
    /// ```
    ///
    /// Negative durations count as zero, and durations over a hundred years as a hundred years.
    public func instant(after duration: Duration) -> ContinuousClock.Instant { now.advanced(by: duration.bounded) }
}

extension Duration {
    /// The duration clamped to between zero and a hundred years, so adding it to a point in time can't overflow.
    ///
    /// ```swift
    /// let end = ContinuousClock.now.advanced(by: exchange.timeout.bounded)
    /// ```
    public var bounded: Duration { min(max(self, .zero), .seconds(3_155_760_000 as Int64)) }
}

/// Suspends tasks until instants of the continuous clock, with one timer for many sleeps.
///
/// A cancelled `Task.sleep` ends at once, but the runtime keeps its timer, some 700 bytes, until the instant. Most
/// timeouts are cancelled early, one per request or message, so their timers would fill memory. Here, a timer is never
/// cancelled, and resumes whatever is due when it fires.
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
        /// Includes the alarms of cancelled sleeps.
        var alarms = BinaryHeap<Alarm>()
        /// When pending timers fire, latest first: each was set because it fires before all others.
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

        /// Removes the sleeps that are over and returns their continuations.
        mutating func takeDue(at now: ContinuousClock.Instant) -> [Continuation] {
            var due: [Continuation] = []
            while let alarm = alarms.first, alarm.instant <= now || sleepers[alarm.number] == nil {
                _ = alarms.popFirst()
                if let sleeper = sleepers.removeValue(forKey: alarm.number) { due.append(sleeper.continuation) }
            }
            return due
        }

        /// Returns the instant of a timer to set for the next sleep; `nil` if a pending timer is early enough.
        mutating func nextTimer() -> ContinuousClock.Instant? {
            guard let next = alarms.first?.instant else { return nil }
            if let earliest = timers.last, earliest <= next { return nil }
            timers.append(next)
            return next
        }
    }

    private let state = Mutex(State())

    /// The number of sleeps, and of alarms kept for them.
    var counts: (sleeps: Int, alarms: Int) { state.withLock { ($0.sleepers.count, $0.alarms.count) } }

    /// Throws `CancellationError` if the task is cancelled.
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
        // Tasks of any priority may be waiting for it.
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

extension DefaultStringInterpolation {
    /// Inserts a duration as people read it: `"again in \(duration: wait)"` becomes "again in 82 ms" or "again in 1.5
    /// s".
    ///
    /// Rounds to a tenth of a second, to a millisecond below one second, and to a microsecond below one millisecond.
    public mutating func appendInterpolation(duration: Duration) {
        let seconds = duration / .seconds(1)
        let (milliseconds, microseconds) = ((seconds * 1e3).rounded(), (seconds * 1e6).rounded())
        if microseconds == 0 || milliseconds.magnitude >= 1000 {
            append((seconds * 10).rounded() / 10, "s")
        } else if microseconds.magnitude >= 1000 {
            append(milliseconds, "ms")
        } else {
            append(microseconds, "µs")
        }
    }

    private mutating func append(_ number: Double, _ unit: String) {
        let text = "\(number)"
        appendLiteral("\(text.hasSuffix(".0") ? String(text.dropLast(2)) : text) \(unit)")
    }
}
