public import Errand
import ErrandHTTPSyntax

/// The limits that a host reports in `RateLimit` and `RateLimit-Policy` (draft-ietf-httpapi-ratelimit-headers-10),
/// which are lists of structured fields (RFC 9651).
///
/// ```
/// RateLimit-Policy: "burst";q=100;w=60, "daily";q=5000;w=86400
/// RateLimit: "burst";r=0;t=30
/// ```
///
/// Invalid members are ignored. So are fields that are neither a list nor a draft 07 dictionary.
public struct RateLimitFields: Sendable, Equatable {
    /// The number of requests left in the tightest window, or nil if the response doesn't specify it.
    public let remaining: Int?
    /// The time until that window restarts.
    public let reset: Duration?
    /// The time per request under the slowest policy, or nil without a policy.
    public let interval: Duration?

    /// Reads a response's fields. Returns nil if no field is valid.
    public init?(_ headers: HTTPHeaders) {
        let policies = headers[.rateLimitPolicy].map(RateLimitPolicy.parse) ?? []
        let limits = headers[.rateLimit].map(RateLimitStatus.parse) ?? []
        let tightest = RateLimitStatus.tightest(
            of: limits.map { limit in
                // If the limit lacks a time, its policy's window is an upper bound.
                let window = policies.first { $0.name == limit.policy }?.window
                return RateLimitStatus(
                    policy: limit.policy, remaining: limit.remaining, reset: (limit.reset ?? window).flatMap(Self.known)
                )
            })
        remaining = tightest?.remaining
        reset = tightest?.reset
        interval = policies.filter { $0.window.flatMap(Self.known) != nil }.compactMap(\.interval).max()
        if remaining == nil, interval == nil { return nil }
    }

    /// Returns nil for more than a year, because longer windows aren't rate limits.
    private static func known(_ time: Duration) -> Duration? { time <= .seconds(31_536_000) ? time : nil }
}
