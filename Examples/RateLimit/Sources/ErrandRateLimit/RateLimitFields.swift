public import Errand
import ErrandHTTPSyntax

/// What a host says of its limits: the fields `RateLimit` and `RateLimit-Policy` of draft-ietf-httpapi-ratelimit-headers-10,
/// lists of structured fields (RFC 9651).
///
/// ```
/// RateLimit-Policy: "burst";q=100;w=60, "daily";q=5000;w=86400
/// RateLimit: "burst";r=0;t=30
/// ```
///
/// Members that cannot be read are ignored, and so is a field that is neither a list nor a dictionary of draft 07.
public struct RateLimitFields: Sendable, Equatable {
    /// How many requests are left in the tightest window; nil where the response does not say.
    public let remaining: Int?
    /// How long until that window begins anew.
    public let reset: Duration?
    /// The time for one request by the slowest policy; nil where the response has none.
    public let interval: Duration?

    /// Reads the fields of a response; nil if there are none, or none that can be read.
    public init?(_ headers: HTTPHeaders) {
        let policies = headers[.rateLimitPolicy].map(QuotaPolicy.parse) ?? []
        let limits = headers[.rateLimit].map(ServiceLimit.parse) ?? []
        let tightest = ServiceLimit.tightest(
            of: limits.map { limit in
                // Without a time of its own, the window of its policy is the longest that it can be.
                let window = policies.first { $0.name == limit.policy }?.window
                return ServiceLimit(
                    policy: limit.policy, remaining: limit.remaining, reset: (limit.reset ?? window).flatMap(Self.known)
                )
            })
        remaining = tightest?.remaining
        reset = tightest?.reset
        interval = policies.filter { $0.window.flatMap(Self.known) != nil }.compactMap(\.interval).max()
        if remaining == nil, interval == nil { return nil }
    }

    /// At most a year: what is longer is no limit of requests.
    private static func known(_ time: Duration) -> Duration? { time <= .seconds(31_536_000) ? time : nil }
}
