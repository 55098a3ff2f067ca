public import ErrandEssentials

/// A `Retry-After` field (RFC 9110, section 10.2.3): seconds, or a date.
public enum RetryAfter: Sendable, Hashable {
    /// This long from when the response was received.
    case delay(Duration)
    /// Not before this date.
    case date(Date)

    /// Reads a field value, with a date in any of its three forms; nil for anything else. A number of more than 136
    /// years counts as 136 years.
    ///
    /// - Parameters:
    ///   - value: the field value.
    ///   - now: determines the century of a year of two digits.
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

    /// The time to wait from `now`; zero for a date that has passed.
    public func wait(from now: Date) -> Duration {
        switch self {
        case .delay(let delay): delay
        case .date(let date): .seconds(min(max(0, date.timeIntervalSince(now)), Double(Self.limit)))
        }
    }

    private static let limit: Int64 = 1 << 32
}
