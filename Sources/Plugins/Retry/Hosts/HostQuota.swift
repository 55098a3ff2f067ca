import Errand
import ErrandEssentials
import ErrandHTTPFields
import ErrandMessageSyntax

/// The number of requests that a host still accepts, according to its last response.
///
/// The client doesn't know the kind of limit, such as a sliding window or a token bucket. Most kinds aren't completely
/// renewed at `until`, so only the server's last response counts. After concurrent requests, the tighter quota counts,
/// because the order in which the server counted the requests is unknown.
struct HostQuota {
    private(set) var left: Int
    private var remaining: Int
    private let inFlight: Int
    /// Whether the host accepts no more requests, regardless of requests in flight.
    var isSpent: Bool { remaining <= 0 }
    private(set) var until: Duration
    /// The last request sent before the response arrived.
    private var lastSent: UInt64

    /// Whether the response arrived early in the period, so requests that were sent in the meantime count for the same
    /// period. If it arrived late, a new period may have begun: for example, with a window of 1 second and a response
    /// time of half a second.
    private let isFresh: Bool

    /// The seconds in a field may be rounded up or down.
    private static let rounding = Duration.seconds(1)
    /// A response is fresh if it took at most 1/8 of the time until renewal.
    private static let freshPart = 8

    /// - Parameters:
    ///   - inFlight: The number of other requests that the host may not have counted yet.
    ///   - lastSent: The number of the last request sent so far.
    init(
        _ field: RateLimitField, _ now: Duration, since start: Duration, inFlight: Int, lastSent: UInt64,
        longest: Duration
    ) {
        isFresh = (now - start) * Self.freshPart <= field.reset
        remaining = field.remaining
        self.inFlight = isFresh ? inFlight : 0
        left = max(0, remaining - self.inFlight)
        until = (isFresh || remaining <= 0 ? now : start) + min(field.reset, max(longest, .zero))
        self.lastSent = lastSent
    }

    mutating func update(with new: HostQuota, from number: UInt64) {
        if number > lastSent || !new.isFresh || new.until > until + Self.rounding {
            self = new
        } else if new.until + Self.rounding >= until {
            remaining = min(remaining, new.remaining)
            left = max(0, remaining - new.inFlight)
            until = max(until, new.until)
        }
    }

    mutating func use() { left -= 1 }

    /// The host may have counted requests up to `lastSent`.
    mutating func takeBack(_ number: UInt64) { if number > lastSent { left += 1 } }
}

/// Limits requests after a pause, while it's unknown how many the host accepts: one request goes first, and each
/// response admits two more. If responses are slow, time also admits requests.
struct HostRamp {
    private let begin: Duration
    private var sent = 0
    private var received = 0

    /// After each step, the number of admitted requests doubles. After the last step, the limit ends.
    private static let step = Duration.milliseconds(250)
    private static let steps = 16

    init(_ begin: Duration) { self.begin = begin }

    private func step(at now: Duration) -> Int {
        Int(min(max(0, (now - begin) / Self.step), 99))
    }

    func isOver(at now: Duration) -> Bool { step(at: now) >= Self.steps }

    func permits(at now: Duration) -> Bool {
        sent < 2 * received + (1 << min(step(at: now), Self.steps))
    }

    func next(after now: Duration) -> Duration { begin + Self.step * (step(at: now) + 1) }

    mutating func send() { sent += 1 }

    mutating func receive(for start: Duration) { if start >= begin { received += 1 } }
}

/// The tightest limit in the `RateLimit` field or the separate fields of early drafts.
struct RateLimitField: Equatable {
    let remaining: Int
    let reset: Duration

    init?(_ headers: HTTPHeaders, at date: Date) {
        var limits: [RateLimitStatus] = []
        if let text = headers[.rateLimit] { limits = RateLimitStatus.parse(text).filter(Self.hasTime) }
        if limits.isEmpty, let remaining = headers["RateLimit-Remaining"], let reset = headers["RateLimit-Reset"],
            let limit = RateLimitStatus(remaining: remaining, reset: reset), Self.hasTime(limit)
        {
            limits = [limit]
        }
        if limits.isEmpty { return nil }
        guard let tightest = RateLimitStatus.tightest(of: limits), var reset = tightest.reset else { return nil }
        if reset >= Self.firstDate {
            let end = Date(timeIntervalSince1970: reset / .seconds(1))
            reset = RetryAfter.date(headers.localDate(end, now: date)).wait(from: date)
            if reset <= .zero { return nil }
        }
        (remaining, self.reset) = (tightest.remaining, reset)
    }

    /// Some servers send the seconds since 1970 instead of the seconds from now, and no limit lasts 30 years.
    private static let firstDate = Duration.seconds(1_000_000_000)

    private static func hasTime(_ limit: RateLimitStatus) -> Bool { limit.reset.map { $0 > .zero } ?? false }
}
