import Errand
import ErrandEssentials
import ErrandHTTPSyntax

/// The wait that a server requests by Retry-After (RFC 9110, section 10.2.3).
enum RetryAfterField {
    /// The longest wait of all valid fields, at most `limit`; nil for none, or for a time that has passed.
    static func wait(in headers: HTTPHeaders, at date: Date, limit: Duration) -> Duration? {
        let waits = headers.values(of: .retryAfter).compactMap { RetryAfter(parsing: $0, now: date)?.wait(from: date) }
        guard let wait = waits.max(), wait > .zero else { return nil }
        return min(wait, max(limit, .zero))
    }
}
