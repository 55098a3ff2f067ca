public import Errand

/// The failures that are followed by another attempt, the number of attempts, and the waits between them.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: url, transport: .system, filters: [.retry(RetryPolicy(maximumAttempts: 5))])
/// ```
///
/// A request is repeated where that is safe, may help, and the deadline leaves time for it:
///
/// | | repeated |
/// |---|---|
/// | safe | idempotent methods (RFC 9110, section 9.2.2), requests with an `Idempotency-Key`, and what `isRepeatable` allows; any request of which no server was reached, not even one that redirected it |
/// | may help | the status is one of `statuses` and not acceptable to the request, or the error one of `errors` |
/// | possible | the body can be sent again |
public struct RetryPolicy: Sendable {
    /// The maximum number of attempts of one call, including the first one; 3 by default, 1 repeats nothing.
    public var maximumAttempts: Int
    /// The waits between attempts, if the server requests none.
    public var backoff: Backoff
    /// The statuses that may be repeated: 408, 425, 429, 500, 502, 503 and 504 by default. A status that the request
    /// accepts is no failure.
    public var statuses: StatusCodes = .retryable
    /// The errors that may be repeated: `timedOut`, `cannotConnect`, `connectionLost`, `nameLookupFailed` and
    /// `truncated` by default.
    public var errors: Set<ErrandError.Code> = .retryable
    /// Whether the request may be sent twice, whatever its method; nil, the default, decides by the method.
    public var isRepeatable: Bool?
    /// Whether each call whose method is not idempotent gets an `Idempotency-Key`, one for all of its attempts
    /// (draft-ietf-httpapi-idempotency-key-header); it may then be repeated. False by default: the server has to know the
    /// field. A request that has the field keeps its own.
    public var addsIdempotencyKey = false
    /// The maximum `Retry-After` that is respected: a longer one counts as this. A minute by default.
    public var maximumRetryAfter: Duration = .seconds(60)
    /// The retries that all calls to a host may make together; nil for no such limit. 10 % of the calls by default.
    public var budget: RetryBudget? = RetryBudget()
    /// Whether another kind of error may be repeated too; nil by default. With this closure, each response is judged
    /// before it is accepted, so that a failed check reaches it: `ErrandError` with `checkFailed`, or the check's own
    /// error.
    ///
    /// ```swift
    /// policy.repeatsError = { ($0 as? ErrandError)?.code == .checkFailed }
    /// ```
    public var repeatsError: (@Sendable (any Error) -> Bool)?

    /// Makes a policy; the defaults are those of the properties.
    public init(maximumAttempts: Int = 3, backoff: Backoff = Backoff()) {
        (self.maximumAttempts, self.backoff) = (maximumAttempts, backoff)
    }

    /// Three attempts.
    public static let standard = RetryPolicy()
    /// One attempt.
    public static let off = RetryPolicy(maximumAttempts: 1)

    /// The same policy for requests that may be sent twice, whatever their method.
    public var repeatable: RetryPolicy {
        var policy = self
        policy.isRepeatable = true
        return policy
    }

    /// The same policy with an `Idempotency-Key` for methods that are not idempotent.
    public var withIdempotencyKey: RetryPolicy {
        var policy = self
        policy.addsIdempotencyKey = true
        return policy
    }
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
