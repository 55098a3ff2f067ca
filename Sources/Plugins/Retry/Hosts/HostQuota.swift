import Errand
import ErrandHTTPFields

/// The number of requests that a host still accepts, by its last response.
///
/// Only the last response counts: a client cannot know the kind of the limit, a fixed or a sliding window, a bucket of
/// tokens or a leaky one, and most of them renew nothing as a whole when `until` comes. If the requests of several
/// responses were under way together, it is unknown which one the server has counted last; then the tighter one counts.
struct HostQuota {
    /// The number of requests that may be sent, without those under way.
    private(set) var left: Int
    /// The remaining requests, as the host has reported them.
    private var remaining: Int
    /// The number of other requests that the host may not have counted yet.
    private let onTheirWay: Int
    /// Whether the host itself reported that nothing is left, not counting requests under way.
    var isSpent: Bool { remaining <= 0 }
    private(set) var until: Duration
    /// The number of the last request that was sent before the host's report.
    private var lastSent: UInt64

    /// Whether the response arrived soon, so that requests that were sent meanwhile count for the same period. Later
    /// another one may have begun, as with a window of a second and a response time of half a second.
    private let isFresh: Bool

    /// The seconds in a field are rounded, down or up.
    private static let rounding = Duration.seconds(1)
    /// A response is fresh within this part of the time until the limit is renewed.
    private static let freshPart = 8

    /// - Parameters:
    ///   - field: the field of the response that was received now.
    ///   - start: the time at which its request was sent.
    ///   - onTheirWay: the number of other requests that the host may not have counted yet.
    ///   - lastSent: the number of the last request that was sent.
    init(
        _ field: RateLimitField, _ now: Duration, since start: Duration, onTheirWay: Int, lastSent: UInt64,
        longest: Duration
    ) {
        isFresh = (now - start) * Self.freshPart <= field.reset
        remaining = field.remaining
        self.onTheirWay = isFresh ? onTheirWay : 0
        left = max(0, remaining - self.onTheirWay)
        until = (isFresh || remaining <= 0 ? now : start) + min(field.reset, max(longest, .zero))
        self.lastSent = lastSent
    }

    /// Another response has arrived, to the request with a number.
    mutating func update(with new: HostQuota, from number: UInt64) {
        if number > lastSent || !new.isFresh || new.until > until + Self.rounding {
            self = new
        } else if new.until + Self.rounding >= until {
            remaining = min(remaining, new.remaining)
            left = max(0, remaining - new.onTheirWay)
            until = max(until, new.until)
        }
    }

    mutating func use() { left -= 1 }

    /// A request was not sent after all; the ones before `lastSent` the host may have counted.
    mutating func takeBack(_ number: UInt64) { if number > lastSent { left += 1 } }
}

/// The first moments after a rest, in which it is unknown how many requests the host accepts: one goes first, and each
/// response lets two more follow. So does time, if a response takes long.
struct HostRamp {
    private let begin: Duration
    private var sent = 0
    private var received = 0

    /// The time after which the number of requests that may have been sent doubles.
    private static let step = Duration.milliseconds(250)
    /// After this many steps there is no limit.
    private static let steps = 16

    /// - Parameter begin: the end of the rest.
    init(_ begin: Duration) { self.begin = begin }

    private func step(at now: Duration) -> Int {
        Int(min(max(0, (now - begin) / Self.step), 99))
    }

    func isOver(at now: Duration) -> Bool { step(at: now) >= Self.steps }

    /// Whether another request may be sent.
    func permits(at now: Duration) -> Bool {
        sent < 2 * received + (1 << min(step(at: now), Self.steps))
    }

    /// When time lets more requests follow.
    func next(after now: Duration) -> Duration { begin + Self.step * (step(at: now) + 1) }

    mutating func send() { sent += 1 }

    /// A response or a failure has arrived; one to a request from before the rest says nothing about the time after it.
    mutating func receive(for start: Duration) { if start >= begin { received += 1 } }
}

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
