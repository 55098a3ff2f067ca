public import Errand

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
    public var requiredFilters: [any Filter] { [Retry(retryPolicy, isRequired: true)] }
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
    public var requiredFilters: [any Filter] { [Retry(self, isRequired: true)] }
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
