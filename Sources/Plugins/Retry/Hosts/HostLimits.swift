import Errand

/// The limits of a gate for each host.
public struct HostLimits: Sendable, Hashable {
    /// The maximum number of concurrent requests, including streamed responses until their bodies end. Defaults to nil:
    /// no limit.
    public var maximumConcurrent: Int?
    /// The maximum number of requests per period. Defaults to nil: no limit.
    public var rate: RequestRate?
    /// The maximum pause that a host can request by `Retry-After` or a `RateLimit` field; longer pauses are shortened.
    /// Defaults to 60 seconds.
    public var maximumPause: Duration = .seconds(60)
    /// The maximum wait of a request. After it, the request throws ``ResilienceError/Code/waitTooLong``. Defaults to
    /// 120 seconds.
    public var maximumWait: Duration = .seconds(120)
    /// The maximum number of waiting requests. Further requests throw ``ResilienceError/Code/queueFull``. Defaults to
    /// 10,000.
    public var maximumQueue = 10_000

    /// Creates limits. By default, only the host itself can limit requests.
    public init(maximumConcurrent: Int? = nil, rate: RequestRate? = nil, maximumPause: Duration = .seconds(60)) {
        (self.maximumConcurrent, self.rate, self.maximumPause) = (maximumConcurrent, rate, maximumPause)
    }
}
