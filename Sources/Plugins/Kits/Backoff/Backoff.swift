// Start here: ``Backoff`` computes the delays after failures, and ``ReconnectionPolicy`` applies it to connections.

import ErrandHTTP

/// Computes the delays after consecutive failures. The delays grow exponentially up to a maximum, with random jitter.
///
/// ```swift
/// let backoff = Backoff(base: .seconds(1), maximumDelay: .seconds(30))
/// // Up to 4 seconds.
/// try await exchange.time.sleep(until: exchange.time.instant(after: backoff.delay(afterFailures: 3)))
/// ```
///
/// Jitter spreads the retries of clients that failed at the same time. A property that is out of range counts as the
/// nearest valid value.
public struct Backoff: Sendable, Hashable {
    /// The delay after the first failure. Defaults to half a second.
    public var base: Duration
    /// The factor by which the delay grows with each further failure, at least 1. Defaults to 2.
    public var factor: Double
    /// The longest delay. Defaults to 20 seconds.
    public var maximumDelay: Duration
    /// The random share of a delay, from 0 to 1. Defaults to 1, which picks a delay between zero and the full length.
    /// With 0.25, the delay is at least three quarters of the full length. Use 0 for exact delays.
    public var jitter: Double

    /// Creates a backoff. By default, delays are random: up to half a second at first, and later up to 20 seconds.
    public init(
        base: Duration = .milliseconds(500), factor: Double = 2, maximumDelay: Duration = .seconds(20),
        jitter: Double = 1
    ) {
        (self.base, self.factor, self.maximumDelay, self.jitter) = (base, factor, maximumDelay, jitter)
    }

    /// A backoff without delays, for tests.
    public static let none = Backoff(base: .zero)

    /// Returns the delay after a number of consecutive failures.
    ///
    /// - Parameters:
    ///   - count: The number of failures. Values below 1 count as 1.
    ///   - floor: The shortest delay, for example a delay that the server asked for. Defaults to zero. Jitter can make
    ///     the delay longer.
    ///   - random: A random number from 0 to 1 that decides how much jitter to apply.
    public func delay(
        afterFailures count: Int, atLeast floor: Duration = .zero, random: Double = .random(in: 0...1)
    ) -> Duration {
        let floor = floor.bounded
        let limit = max(maximumDelay.bounded, floor)
        let factor = factor > 1 ? min(factor, 1_000_000) : 1
        var delay = min(max(base, floor), limit)
        if factor > 1, delay > .zero {
            // With any practical factor, 10,000 failures are enough to reach the limit.
            for _ in 1..<max(1, min(count, 10_000)) {
                delay = min(delay * factor, limit)
                if delay == limit { break }
            }
        }
        let spread = Self.part(jitter, of: delay)
        return max(delay - spread, floor) + Self.part(random, of: spread)
    }

    /// 0 and 1 are exact; NaN counts as 0.
    private static func part(_ share: Double, of duration: Duration) -> Duration {
        if share >= 1 { return duration }
        return share > 0 ? duration * share : .zero
    }
}
