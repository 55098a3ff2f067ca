/// How long a retry waits where the server says nothing: exponentially longer, with full jitter.
///
/// Before the second attempt a random time up to `base`, before the third up to twice that, and so on, never more than
/// `limit`: clients that failed together do not return together.
public struct RetryBackoff: Sendable, Hashable {
    /// Up to this before the second attempt; half a second by default.
    public var base: Duration
    /// The longest wait; 20 seconds by default.
    public var limit: Duration
    /// Whether the wait is a random part of what it could be; true by default. False makes a test exact.
    public var jitter: Bool

    /// Makes a backoff; negative durations count as zero.
    public init(base: Duration = .milliseconds(500), limit: Duration = .seconds(20), jitter: Bool = true) {
        (self.base, self.limit, self.jitter) = (base, limit, jitter)
    }

    /// No wait at all.
    public static let none = RetryBackoff(base: .zero)

    /// The wait after so many failed attempts, counted from 1.
    ///
    /// - Parameter random: the part of the longest wait, from 0 to 1.
    public func wait(afterAttempt number: Int, random: Double = .random(in: 0...1)) -> Duration {
        let limit = min(max(limit, .zero), .seconds(3_155_760_000 as Int64))
        var wait = min(max(base, .zero), limit)
        for _ in 1..<max(1, min(number, 64)) where wait < limit { wait = min(wait * 2, limit) }
        return jitter ? wait * max(0, min(1, random)) : wait
    }
}
