import Errand
import ErrandHTTPFields

/// The tightest limit in a response: of its `RateLimit` field, or of the separate fields of the first drafts.
struct RateLimitField: Equatable {
    /// The number of remaining requests.
    let remaining: Int
    /// The time until the limit is renewed.
    let reset: Duration

    /// Nil if the response has no valid limit with a time.
    init?(_ headers: HTTPHeaders) {
        var limits: [ServiceLimit] = []
        if let text = headers[.rateLimit] { limits = ServiceLimit.parse(text).filter(Self.hasTime) }
        if limits.isEmpty, let remaining = headers["RateLimit-Remaining"], let reset = headers["RateLimit-Reset"],
            let limit = ServiceLimit(remaining: remaining, reset: reset), Self.hasTime(limit)
        {
            limits = [limit]
        }
        // Most responses have none.
        if limits.isEmpty { return nil }
        guard let tightest = ServiceLimit.tightest(of: limits), let reset = tightest.reset else { return nil }
        (remaining, self.reset) = (tightest.remaining, reset)
    }

    private static func hasTime(_ limit: ServiceLimit) -> Bool { limit.reset.map { $0 > .zero } ?? false }
}
