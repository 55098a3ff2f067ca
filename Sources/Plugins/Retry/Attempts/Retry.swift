public import Errand

/// Sends a request again if that is safe and may help, and lets a host rest that requests it.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: url, transport: .system, filters: [.retry])
/// ```
///
/// Two filters: one among the call filters repeats; one before the transport makes every request wait to a host whose
/// `Retry-After` has not passed, whichever call received it. ``RetryPolicy`` determines the repeated requests. Each
/// repetition is an attempt of the same activity, so accessories see all of them.
///
/// Of several filters that repeat, such as this one around a download, only the innermost one that can repeat a request
/// does so. A streamed body belongs to its reader: a failure after the head is not repeated.
public struct Retry: FilterGroup {
    /// The policy for requests that have none of their own.
    public let policy: RetryPolicy
    /// The filter that repeats, and the one before the transport.
    public let filters: [any Filter]

    /// Makes a filter; agents that share it share its knowledge of each host.
    public init(_ policy: RetryPolicy = .standard) {
        self.policy = policy
        filters = [RetryFilter(policy), HostGate(HostLimits(maximumPause: policy.maximumRetryAfter))]
    }
}

extension Filter where Self == Retry {
    /// `filters: [.retry]`
    public static var retry: Retry { Retry() }

    /// `filters: [.retry(RetryPolicy(maximumAttempts: 5))]`
    public static func retry(_ policy: RetryPolicy) -> Retry { Retry(policy) }
}

/// A request with a retry policy of its own.
///
/// ```swift
/// struct PlaceOrder: RetryableRequest {
///     var method: HTTPMethod { .post }
///     var retryPolicy: RetryPolicy { .standard.withIdempotencyKey }
/// }
/// ```
///
/// It is repeated whatever filters the agent has. If the agent has no retry, each call counts for itself: there is no
/// budget for the host, and no pause for other calls to it.
public protocol RetryableRequest: FilterProvidingRequest {
    /// The policy, which replaces the agent's.
    var retryPolicy: RetryPolicy { get }
}

extension RetryableRequest {
    /// A retry that works if the agent has none.
    public var requiredFilters: [any Filter] { [RetryFilter(retryPolicy, isRequired: true)] }
}

/// The tag that carries the policy of a call; nil by default.
extension RetryPolicy: TagKey {
    /// Nil: the request's or the agent's.
    public static var defaultValue: RetryPolicy? { nil }
    /// True.
    public static var affectsResponse: Bool { true }
}

extension RetryPolicy: FilterProvidingTag {
    /// A retry that works if the agent has none.
    public var requiredFilters: [any Filter] { [RetryFilter(self, isRequired: true)] }
}

extension CallOptions {
    /// Options with a policy and nothing else: `options: .retry(.off)`
    public static func retry(_ policy: RetryPolicy) -> CallOptions { CallOptions().retry(policy) }

    /// The same options with a policy, which replaces those of the request and the agent.
    public func retry(_ policy: RetryPolicy) -> CallOptions {
        var options = self
        options.tags[RetryPolicy.self] = policy
        return options
    }
}
