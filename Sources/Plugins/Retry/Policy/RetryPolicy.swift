public import Errand
public import ErrandBackoff

/// Decides which failed requests are retried, how often, and how long to wait before each retry.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: url, transport: .system, filters: [.retry(RetryPolicy(maximumAttempts: 5))])
/// ```
///
/// A request is retried if all of these apply and the deadline leaves time for the wait:
///
/// | | retried |
/// |---|---|
/// | safe | idempotent methods (RFC 9110, section 9.2.2), requests with an `Idempotency-Key`, and requests that didn't reach any server, including a server that redirects; `isRepeatable` overrides this |
/// | may help | the status is in `statuses` and not acceptable to the request, the error is in `errors`, or `repeatsError` returns true |
/// | possible | the body can be sent again |
public struct RetryPolicy: Sendable {
    /// The maximum number of attempts per call, including the first. 1 disables retries. Defaults to 3.
    public var maximumAttempts: Int
    /// The waits between attempts, unless the server sends `Retry-After`. Defaults to ``Backoff``'s defaults.
    public var backoff: Backoff
    /// The statuses to retry. Defaults to 408, 425, 429, 500, 502, 503 and 504. A status that the request accepts isn't
    /// retried.
    public var statuses: StatusCodes = .retryable
    /// The errors to retry. Defaults to `timedOut`, `cannotConnect`, `connectionLost`, `nameLookupFailed` and
    /// `truncated`.
    public var errors: Set<ErrandError.Code> = .retryable
    /// Whether requests can be sent twice. Defaults to nil, which applies the rules in the table of ``RetryPolicy``.
    public var isRepeatable: Bool?
    /// Whether to add an `Idempotency-Key` to calls whose method isn't idempotent, so they can be retried
    /// (draft-ietf-httpapi-idempotency-key-header). Defaults to false.
    ///
    /// All attempts of a call send the same key. The server must support the field. If a request has its own
    /// `Idempotency-Key`, the filter keeps it.
    public var addsIdempotencyKey = false
    /// The maximum wait for a `Retry-After`. Longer waits are shortened. Defaults to 60 seconds.
    public var maximumRetryAfter: Duration = .seconds(60)
    /// The limit for the retries of all calls to a host, or nil for no limit. Defaults to 10 % of the calls.
    public var budget: RetryBudget? = RetryBudget()
    /// A closure that returns whether to retry an error that isn't in ``errors``. Defaults to nil.
    ///
    /// If you set this closure, the filter runs the response checks of each attempt, so it can retry failed checks. The
    /// closure receives a failed check as `ErrandError` with `checkFailed`, or as the check's own error.
    ///
    /// ```swift
    /// policy.repeatsError = { ($0 as? ErrandError)?.code == .checkFailed }
    /// ```
    public var repeatsError: (@Sendable (any Error) -> Bool)?

    /// Creates a policy. Arguments default to the values of the properties.
    public init(maximumAttempts: Int = 3, backoff: Backoff = Backoff()) {
        (self.maximumAttempts, self.backoff) = (maximumAttempts, backoff)
    }

    /// The default policy: three attempts.
    public static let standard = RetryPolicy()
    /// A policy that doesn't retry.
    public static let off = RetryPolicy(maximumAttempts: 1)

    /// A copy of the policy that retries any method. Use it if you know that the requests can be sent twice.
    public var repeatable: RetryPolicy {
        var policy = self
        policy.isRepeatable = true
        return policy
    }

    /// A copy of the policy that adds an `Idempotency-Key`, so requests with any method can be retried.
    public var withIdempotencyKey: RetryPolicy {
        var policy = self
        policy.addsIdempotencyKey = true
        return policy
    }
}

/// A request with its own retry policy.
///
/// ```swift
/// struct PlaceOrder: RetryableRequest {
///     var method: HTTPMethod { .post }
///     var retryPolicy: RetryPolicy { .standard.withIdempotencyKey }
/// }
/// ```
///
/// The request is retried even if the agent doesn't have a retry filter. In this case, its calls don't share a retry
/// budget, and a `Retry-After` doesn't pause other calls to the host.
public protocol RetryableRequest: FilterProvidingRequest {
    /// The policy to use instead of the agent's.
    var retryPolicy: RetryPolicy { get }
}

extension RetryableRequest {
    /// Installs a retry filter if the agent doesn't have one.
    public var requiredFilters: [any Filter] { [RetryFilter(retryPolicy, isRequired: true)] }
}

/// Sets the policy of a call. Defaults to nil.
extension RetryPolicy: TagKey {
    /// Nil. Calls without this tag use the policy of the request or agent.
    public static var defaultValue: RetryPolicy? { nil }
    /// Returns true, because retries can change the response. Calls with different policies therefore don't share a
    /// response.
    public static var affectsResponse: Bool { true }
}

extension RetryPolicy: FilterProvidingTag {
    /// Installs a retry filter if the agent doesn't have one.
    public var requiredFilters: [any Filter] { [RetryFilter(self, isRequired: true)] }
}

extension CallOptions {
    /// Creates options with a retry policy for a call: `options: .retry(.off)`.
    public static func retry(_ policy: RetryPolicy) -> CallOptions { CallOptions().retry(policy) }

    /// Returns a copy of these options with a retry policy, which replaces the request's and the agent's.
    public func retry(_ policy: RetryPolicy) -> CallOptions {
        var options = self
        options.tags[RetryPolicy.self] = policy
        return options
    }
}
