// Start here: `.retry` alone, or all of the module in one line by `.standardResilience`.
//
// Policy/    what is repeated, how often, and within which budget
// Attempts/  the filter that repeats
// Hosts/     the limits of each host, and the rests that it asks for
// Breaker/   the breaker, and the timeout of one attempt
// Hedge/     a second request when the first one is slow
// Faults/    failures for tests of an app
// Support/   a request in a task of its own

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
