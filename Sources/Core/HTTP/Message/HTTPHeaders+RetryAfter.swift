public import ErrandEssentials
import ErrandMessageSyntax

extension HTTPHeaders {
    /// The wait that a server asks for by `Retry-After` (RFC 9110, section 10.2.3): the longest of all valid fields;
    /// nil for none, and for a time that has passed.
    ///
    /// - Parameters:
    ///   - now: the time from which a delay counts, and from which the wait until a date is measured.
    ///   - limit: a longer wait counts as this; by default the 136 years of ``ErrandMessageSyntax/RetryAfter``.
    public func retryAfter(from now: Date, upTo limit: Duration? = nil) -> Duration? {
        let waits = values(of: .retryAfter).compactMap { RetryAfter(parsing: $0, now: now)?.wait(from: now) }
        guard let wait = waits.max(), wait > .zero else { return nil }
        return limit.map { Swift.min(wait, Swift.max($0, .zero)) } ?? wait
    }
}
