public import ErrandEssentials

/// A clock for an agent, its filters and its transport. Tests can replace it.
public protocol TimeSource: Sendable {
    /// The current instant, for measuring intervals. It never jumps.
    var now: ContinuousClock.Instant { get }
    /// The current calendar date, which may jump.
    var date: Date { get }
    /// Waits until an instant of this clock. Throws `CancellationError` if the task is cancelled.
    func sleep(until instant: ContinuousClock.Instant) async throws
}

/// The system's clocks. Agents use them by default.
public struct SystemTimeSource: TimeSource {
    /// Creates a time source.
    public init() {}
    /// The current instant of the continuous clock.
    public var now: ContinuousClock.Instant { .now }
    /// The current date of the system's clock, which the user can change.
    public var date: Date { Date() }
    /// Waits on the continuous clock. Throws `CancellationError` if the task is cancelled.
    public func sleep(until instant: ContinuousClock.Instant) async throws {
        // Clamp the instant, because the system counts seconds in 64 bits and crashes for later instants.
        let bounded = min(max(instant, now), self.instant(after: .seconds(Int64.max)))
        try await SleepingTasks.shared.sleep(until: bounded)
    }
}

extension TimeSource {
    /// Returns the instant after a duration from now.
    ///
    /// ```swift
    /// try await exchange.time.sleep(until: exchange.time.instant(after: .seconds(5)))
    /// ```
    ///
    /// Accepts any duration. A negative duration counts as zero, and a duration of more than a hundred years counts as
    /// a hundred years.
    public func instant(after duration: Duration) -> ContinuousClock.Instant { now.advanced(by: duration.bounded) }

    /// Waits until an instant, even if the time source fails. Returns early if the task is cancelled.
    ///
    /// Use it for timers that must fire, such as a timeout's. If ``sleep(until:)`` throws, this method waits for the
    /// remaining time on the system's clock, but at least 10 milliseconds. A loop around this method therefore can't
    /// keep a processor busy.
    ///
    /// ```swift
    /// await exchange.time.wait(until: exchange.time.instant(after: .seconds(30)))
    /// if !Task.isCancelled { exchange.note("slow", "no response for 30 seconds") }
    /// ```
    public func wait(until instant: ContinuousClock.Instant) async {
        do { try await sleep(until: instant) } catch {
            if Task.isCancelled { return }
            try? await Task.sleep(for: max(now.duration(to: instant).bounded, .milliseconds(10)))
        }
    }
}

extension Duration {
    /// The duration clamped to between zero and a hundred years, so adding it to an instant can't overflow.
    ///
    /// ```swift
    /// let end = ContinuousClock.now.advanced(by: exchange.timeout.bounded)
    /// ```
    public var bounded: Duration { min(max(self, .zero), .seconds(3_155_760_000 as Int64)) }
}

extension DefaultStringInterpolation {
    /// Inserts a readable duration: `"again in \(duration: wait)"` becomes "again in 82 ms" or "again in 1.5 s".
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
