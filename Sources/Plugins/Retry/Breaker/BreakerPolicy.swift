public import Errand

/// The conditions that open a breaker, and the time for which it stays open.
public struct BreakerPolicy: Sendable {
    /// The share of failures that opens it, 0.5 by default.
    public var failureShare: Double
    /// The minimum number of requests for a share to count; 10 by default.
    public var minimumRequests: Int
    /// The time for which a result counts; 30 seconds by default.
    public var window: Duration
    /// The time for which it stays open before one request may probe the host; 5 seconds by default. Doubles with each
    /// probe that fails.
    public var pause: Duration
    /// The maximum pause; a minute by default.
    public var maximumPause: Duration = .seconds(60)
    /// The statuses that count as failures: 500 to 599 by default, except 501 and 505. One with a `Retry-After` does
    /// not count: the host is up, and the gate lets it rest.
    public var statuses = StatusCodes(500...500, 502...504, 506...599)
    /// The errors that count as failures: `timedOut`, `cannotConnect`, `connectionLost`, `nameLookupFailed` and
    /// `truncated` by default.
    public var errors: Set<ErrandError.Code> = .retryable

    /// Makes a policy; the defaults are those of the properties.
    public init(
        failureShare: Double = 0.5, minimumRequests: Int = 10, window: Duration = .seconds(30),
        pause: Duration = .seconds(5)
    ) {
        (self.failureShare, self.minimumRequests) = (failureShare, minimumRequests)
        (self.window, self.pause) = (window, pause)
    }
}
