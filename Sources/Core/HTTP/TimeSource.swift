public import ErrandEssentials

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
