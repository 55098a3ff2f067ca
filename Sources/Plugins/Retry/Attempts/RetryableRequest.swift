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
    public var requiredFilters: [any Filter] { [RetryFilter(retryPolicy, isRequired: true)] }
}
