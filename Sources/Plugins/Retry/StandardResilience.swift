public import Errand

/// Gate, retry, breaker and attempt timeout in the right order.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: url, transport: .system, filters: [.standardResilience])
/// ```
///
/// | | stage | default |
/// |---|---|---|
/// | ``Retry`` | call | three attempts of what may be repeated, `Retry-After`, at most 10 % of the calls |
/// | ``HostGate`` | before the transport | 64 requests at once to a host; rests that the host asks for, up to a minute |
/// | ``Breaker`` | before the transport | opens for 5 seconds if half of 10 or more requests in 30 seconds fail |
/// | ``AttemptTimeout`` | before the transport | 30 seconds |
///
/// `.retry` is the same with a retry and a gate only. To limit the whole call, use Core's `deadline`; no wait begins
/// that would end after it.
public struct StandardResilience: FilterGroup {
    /// The parts, which can be changed before they are installed.
    public struct Settings: Sendable {
        /// The policy of the retry.
        public var retry = RetryPolicy.standard
        /// The limits of each host; 64 concurrent requests by default. A host rests no longer than
        /// `retry.maximumRetryAfter`.
        public var limits = HostLimits(maximumConcurrent: 64)
        /// The policy by which a host counts as down; nil for no breaker.
        public var breaker: BreakerPolicy? = BreakerPolicy()
        /// The limit of an attempt; nil for none. 30 seconds by default: long uploads and responses need more.
        public var attemptTimeout: Duration? = .seconds(30)

        /// The defaults.
        public init() {}
    }

    /// The parts as they were installed.
    public let settings: Settings
    /// The filters, each in its stage.
    public let filters: [any Filter]

    /// Makes the group; agents that share it share its knowledge of each host.
    public init(_ settings: Settings = Settings()) {
        self.settings = settings
        var limits = settings.limits
        // A call that waits for its next attempt no longer than this would wait at the gate for the rest.
        limits.maximumPause = min(limits.maximumPause, settings.retry.maximumRetryAfter)
        var filters: [any Filter] = [Retry(settings.retry), HostGate(limits)]
        if let breaker = settings.breaker { filters.append(Breaker(breaker)) }
        if let limit = settings.attemptTimeout { filters.append(AttemptTimeout(limit)) }
        self.filters = filters
    }
}

extension Filter where Self == StandardResilience {
    /// `filters: [.standardResilience]`
    public static var standardResilience: StandardResilience { StandardResilience() }

    /// `filters: [.standardResilience { $0.retry.maximumAttempts = 5 }]`
    public static func standardResilience(
        _ configure: (inout StandardResilience.Settings) -> Void
    ) -> StandardResilience {
        var settings = StandardResilience.Settings()
        configure(&settings)
        return StandardResilience(settings)
    }
}
