/// What a gate lets through to one host.
public struct HostLimits: Sendable, Hashable {
    /// The most requests at once, a streamed response included until its body ends; nil, the default, for no limit.
    public var maximumConcurrent: Int?
    /// The most requests in a period; nil, the default, for no limit.
    public var rate: RequestRate?
    /// The longest rest that a host may ask for, by `Retry-After` or a `RateLimit` field: a longer one counts as this. A
    /// minute by default.
    public var maximumPause: Duration = .seconds(60)
    /// The longest wait of one request; then it throws ``ResilienceError/Code/waitTooLong``. Two minutes by default.
    public var maximumWait: Duration = .seconds(120)
    /// The most requests that wait; a further one throws ``ResilienceError/Code/queueFull``. 10,000 by default.
    public var maximumQueue = 10_000

    /// Makes limits; none but those of the host itself by default.
    public init(maximumConcurrent: Int? = nil, rate: RequestRate? = nil, maximumPause: Duration = .seconds(60)) {
        (self.maximumConcurrent, self.rate, self.maximumPause) = (maximumConcurrent, rate, maximumPause)
    }
}

/// So many requests in a period of any beginning: `RequestRate(100, per: .seconds(60))`
public struct RequestRate: Sendable, Hashable {
    /// At least 1.
    public let count: Int
    /// The length of the period; zero for no limit.
    public let period: Duration

    /// Makes a rate. A count below 1 counts as 1, one above 100,000 as 100,000; a negative period as zero.
    public init(_ count: Int, per period: Duration) {
        self.count = min(max(1, count), 100_000)
        self.period = min(max(.zero, period), .seconds(3_155_760_000 as Int64))
    }
}
