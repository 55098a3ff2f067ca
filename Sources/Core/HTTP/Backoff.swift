/// How long to wait after each of several failures in a row: exponentially longer, up to a maximum, in part at random.
///
/// ```swift
/// let backoff = Backoff(base: .seconds(1), maximumDelay: .seconds(30))
/// // Up to 4 seconds.
/// try await exchange.time.sleep(until: exchange.time.instant(after: backoff.delay(afterFailures: 3)))
/// ```
///
/// Clients that failed together do not return together: a delay is a random part of what it could be, all of it by
/// default. Other values of all properties are taken for the nearest that make sense, and no arithmetic overflows.
public struct Backoff: Sendable, Hashable {
    /// The delay after the first failure; half a second by default.
    public var base: Duration
    /// How much longer the delay is after each further failure; 2 by default, at least 1.
    public var factor: Double
    /// The longest delay; 20 seconds by default.
    public var maximumDelay: Duration
    /// Which part of a delay is random, from 0 to 1; 1 by default: a delay lies between zero and what it could be. With
    /// 0.25 it lies between three quarters of that and all of it; 0 makes a test exact.
    public var jitter: Double

    /// Makes a backoff; the defaults are those of the properties.
    public init(
        base: Duration = .milliseconds(500), factor: Double = 2, maximumDelay: Duration = .seconds(20),
        jitter: Double = 1
    ) {
        (self.base, self.factor, self.maximumDelay, self.jitter) = (base, factor, maximumDelay, jitter)
    }

    /// No delay at all.
    public static let none = Backoff(base: .zero)

    /// The delay after so many failures in a row.
    ///
    /// - Parameters:
    ///   - count: from 1; what is less counts as 1.
    ///   - floor: the shortest delay, such as one that the server asked for; zero by default. Where it leaves no room
    ///     for the random part, that comes on top: clients that a server sends away together do not return together
    ///     either.
    ///   - random: which part of the random part, from 0 to 1.
    public func delay(
        afterFailures count: Int, atLeast floor: Duration = .zero, random: Double = .random(in: 0...1)
    ) -> Duration {
        let floor = floor.bounded
        let limit = max(maximumDelay.bounded, floor)
        let factor = factor > 1 ? min(factor, 1_000_000) : 1
        var delay = min(max(base, floor), limit)
        if factor > 1, delay > .zero {
            // After these even the smallest factor that is worth the name has reached the limit.
            for _ in 1..<max(1, min(count, 10_000)) {
                delay = min(delay * factor, limit)
                if delay == limit { break }
            }
        }
        let spread = Self.part(jitter, of: delay)
        return max(delay - spread, floor) + Self.part(random, of: spread)
    }

    /// From nothing to all of a duration, both exact; a share that is no number counts as 0.
    private static func part(_ share: Double, of duration: Duration) -> Duration {
        if share >= 1 { return duration }
        return share > 0 ? duration * share : .zero
    }
}
