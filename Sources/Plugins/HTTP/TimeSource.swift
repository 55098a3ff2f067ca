public import ErrandEssentials

/// The clock that an agent, its filters and its transport wait by; a test puts a manual one here.
public protocol TimeSource: Sendable {
    /// For intervals: never jumps.
    var now: ContinuousClock.Instant { get }
    /// The date on the calendar: may jump.
    var date: Date { get }
    /// Throws `CancellationError` when the task is cancelled.
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
        try await Task.sleep(until: instant, clock: .continuous)
    }
}

extension TimeSource {
    /// A point in time from now; a hundred years at most, so that no sum overflows.
    package func instant(after duration: Duration) -> ContinuousClock.Instant {
        now.advanced(by: min(max(duration, .zero), .seconds(3_155_760_000 as Int64)))
    }
}
