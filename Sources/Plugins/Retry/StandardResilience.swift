public import Errand
import ErrandEssentials

/// Combines a retry, a host limit, a circuit breaker and an attempt timeout in the right order.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: url, transport: .system, filters: [.standardResilience])
/// ```
///
/// | | stage | default |
/// |---|---|---|
/// | ``RetryFilter`` | call | three attempts if retrying is safe, `Retry-After`, retries for at most 10 % of the calls |
/// | ``HostLimitFilter`` | before the transport | 64 concurrent requests per host, pauses requested by the host of up to 60 seconds |
/// | ``BreakerFilter`` | before the transport | opens for 5 seconds if half of 10 or more requests in 30 seconds fail |
/// | ``AttemptTimeoutFilter`` | before the transport | 30 seconds |
///
/// `.retry` installs only the retry and the host limit. To limit the time of the whole call, set its `deadline`. The
/// filters don't start a wait that would end after the deadline.
public struct StandardResilience: FilterGroup {
    /// The settings of the filters in the group. Change them before you install the group.
    public struct Settings: Sendable {
        /// When and how often requests are retried. Defaults to three attempts.
        public var retry = RetryPolicy.standard
        /// The limits for each host. Defaults to 64 concurrent requests. `retry.maximumRetryAfter` also limits the
        /// pauses that a host can ask for.
        public var limits = HostLimits(maximumConcurrent: 64)
        /// The policy for rejecting requests to a host that is down, or nil for no breaker. Defaults to
        /// ``BreakerPolicy``'s defaults.
        public var breaker: BreakerPolicy? = BreakerPolicy()
        /// The maximum time of an attempt, or nil for no limit. Defaults to 30 seconds. Increase it for long uploads
        /// and downloads.
        public var attemptTimeout: Duration? = .seconds(30)

        /// Creates settings in which every property has its default.
        public init() {}
    }

    /// The settings of the filters in the group.
    public let settings: Settings
    /// The filters of the group.
    public let filters: [any Filter]

    /// Creates the group. Agents that use the same group share the state of each host.
    public init(_ settings: Settings = Settings()) {
        self.settings = settings
        var limits = settings.limits
        // The host limit's pause must not be longer than the wait of a retry. Otherwise, the retried request would wait
        // again at the host limit.
        limits.maximumPause = min(limits.maximumPause, settings.retry.maximumRetryAfter)
        var filters: [any Filter] = [RetryFilter(settings.retry), HostLimitFilter(limits)]
        if let breaker = settings.breaker { filters.append(BreakerFilter(breaker)) }
        if let limit = settings.attemptTimeout { filters.append(AttemptTimeoutFilter(limit)) }
        self.filters = filters
    }
}

extension Filter where Self == StandardResilience {
    /// Creates filters that retry, limit and protect requests: `filters: [.standardResilience]`.
    public static var standardResilience: StandardResilience { StandardResilience() }

    /// Creates the filters with custom settings: `filters: [.standardResilience { $0.retry.maximumAttempts = 5 }]`.
    public static func standardResilience(
        _ configure: (inout StandardResilience.Settings) -> Void
    ) -> StandardResilience {
        var settings = StandardResilience.Settings()
        configure(&settings)
        return StandardResilience(settings)
    }
}

/// The error that host limits and breakers throw instead of sending a request.
///
/// ```swift
/// do { try await agent.send(GetUser(id: 7)) } catch let error as ResilienceError where error.code == .breakerOpen {
///     print(error.host, error.remaining ?? .zero)
/// }
/// ```
public struct ResilienceError: CodedError, Sendable {
    /// The type of the error's codes. New codes may be added, so write a `default` in a `switch`.
    public typealias Code = FailureCode<ResilienceError>

    /// The kind of failure. Stable, and suitable for metrics.
    public let code: Code
    /// The host's name and port.
    public let host: String
    /// The time until the host allows requests again, or nil if it's unknown.
    public let remaining: Duration?
    private let message: String

    init(_ code: Code, host: String, remaining: Duration? = nil, _ message: String) {
        (self.code, self.host, self.remaining, self.message) = (code, host, remaining, message)
    }

    /// The code, the host and the reason on one line.
    public var description: String { "\(code): \(host): \(message)" }
}

extension FailureCode<ResilienceError> {
    /// The host's breaker is open, because too many requests to it have failed.
    public static var breakerOpen: Self { Self("breakerOpen", 1) }
    /// The request's turn would come only after the call's deadline or the maximum wait.
    public static var waitTooLong: Self { Self("waitTooLong", 2) }
    /// Too many requests are already waiting for the host.
    public static var queueFull: Self { Self("queueFull", 3) }
}

extension ResilienceError: RequestFailure {
    /// Returns true, because the host may accept the request later. A cache can therefore use a stale response instead.
    /// A retry repeats the request only if its policy includes this error.
    public var isRetryable: Bool { true }
}

extension ResilienceError {
    /// The sentence that users see as `localizedDescription`.
    public var failureSentence: FailureSentence { .busy }
}
