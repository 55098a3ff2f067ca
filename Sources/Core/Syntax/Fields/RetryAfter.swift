public import ErrandEssentials

/// A parsed `Retry-After` field (RFC 9110, section 10.2.3).
public enum RetryAfter: Sendable, Hashable {
    /// Retry after this time, counted from the arrival of the response.
    case delay(Duration)
    /// Don't retry before this date.
    case date(Date)

    /// Parses a number of seconds or an HTTP date. Returns nil for other text. Limits delays to 136 years.
    ///
    /// - Parameters:
    ///   - value: The field value.
    ///   - now: Determines the century of a two-digit year.
    public init?(parsing value: String, now: Date = Date()) {
        let text = ASCII.trimmed(value[...])
        if !text.isEmpty, text.utf8.allSatisfy(ASCII.isDigit) {
            self = .delay(.seconds(min(ASCII.digits(text) ?? Self.limit, Self.limit)))
        } else if let date = HTTPDate.parse(text, now: now) {
            self = .date(date)
        } else {
            return nil
        }
    }

    /// Returns the time to wait from `now`, or zero if the date has passed.
    public func wait(from now: Date) -> Duration {
        switch self {
        case .delay(let delay): delay
        case .date(let date): .seconds(min(max(0, date.timeIntervalSince(now)), Double(Self.limit)))
        }
    }

    private static let limit: Int64 = 1 << 32
}
