/// How long to wait before the next try.
package enum RetryDelay {
    /// Twice as long after each try, up to a limit, and at random between nothing and that, so that many clients do not
    /// come back at once. `try` counts from 1.
    package static func backoff(
        try number: Int, base: Duration, limit: Duration, random: Double = .random(in: 0...1)
    ) -> Duration {
        var delay = base
        for _ in 1..<max(1, min(number, 64)) where delay < limit { delay = delay * 2 }
        return min(delay, limit) * max(0, min(1, random))
    }

    /// What `Retry-After` asks for (RFC 9110, section 10.2.3): seconds or a date; nil for anything else. A date that has
    /// passed is no wait.
    package static func asked(by field: String?, now: Date) -> Duration? {
        guard let field, !field.isEmpty else { return nil }
        if field.utf8.allSatisfy({ $0 >= UInt8(ascii: "0") && $0 <= UInt8(ascii: "9") }) {
            return Int64(field).map { .seconds(min($0, 1 << 32)) } ?? .seconds(1 << 32)
        }
        guard let date = HTTPDate.parse(field, now: now) else { return nil }
        return .seconds(min(max(0, date.timeIntervalSince(now)), 4e9))
    }
}
