public import Errand

/// When a breaker opens, and for how long.
public struct BreakerPolicy: Sendable {
    /// The share of failures that opens it, 0.5 by default.
    public var failureShare: Double
    /// The fewest requests that a share means something of; 10 by default.
    public var minimumRequests: Int
    /// How long a result counts; 30 seconds by default.
    public var window: Duration
    /// How long it stays open before one request may probe the host; 5 seconds by default. Doubles with each probe that
    /// fails.
    public var pause: Duration
    /// The longest pause; a minute by default.
    public var maximumPause: Duration = .seconds(60)
    /// Statuses that are failures: 500 to 599 by default, 501 and 505 excepted. One with a `Retry-After` is none: the
    /// host is up, and the gate lets it rest.
    public var statuses = StatusCodes(500...500, 502...504, 506...599)
    /// Errors that are failures: `timedOut`, `cannotConnect`, `connectionLost`, `nameLookupFailed` and `truncated` by default.
    public var errors: Set<ErrandError.Code> = [
        .timedOut, .cannotConnect, .connectionLost, .nameLookupFailed, .truncated,
    ]

    /// Makes a policy; what is not said has its default.
    public init(
        failureShare: Double = 0.5, minimumRequests: Int = 10, window: Duration = .seconds(30),
        pause: Duration = .seconds(5)
    ) {
        (self.failureShare, self.minimumRequests) = (failureShare, minimumRequests)
        (self.window, self.pause) = (window, pause)
    }
}
