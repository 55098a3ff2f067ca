import Errand

/// The limits of a gate for one host.
public struct HostLimits: Sendable, Hashable {
    /// The maximum number of concurrent requests, including a streamed response until its body ends; nil, the default,
    /// for no limit.
    public var maximumConcurrent: Int?
    /// The maximum number of requests in a period; nil, the default, for no limit.
    public var rate: RequestRate?
    /// The maximum rest that a host may request, by `Retry-After` or a `RateLimit` field: a longer one counts as this.
    /// A minute by default.
    public var maximumPause: Duration = .seconds(60)
    /// The maximum wait of one request; then it throws ``ResilienceError/Code/waitTooLong``. Two minutes by default.
    public var maximumWait: Duration = .seconds(120)
    /// The maximum number of waiting requests; a further one throws ``ResilienceError/Code/queueFull``. 10,000 by
    /// default.
    public var maximumQueue = 10_000

    /// Makes limits; by default only those of the host itself.
    public init(maximumConcurrent: Int? = nil, rate: RequestRate? = nil, maximumPause: Duration = .seconds(60)) {
        (self.maximumConcurrent, self.rate, self.maximumPause) = (maximumConcurrent, rate, maximumPause)
    }
}
