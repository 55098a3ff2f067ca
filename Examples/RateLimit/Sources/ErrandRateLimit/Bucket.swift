import Synchronization

/// The tokens of a host. Negative while requests wait: each has taken its token in advance.
struct Bucket: Sendable {
    let capacity: Double
    /// The time for one token, as the app wants it.
    let interval: Duration
    /// The same as the host wants it, if that is more.
    private var slowest: Duration
    private var tokens: Double
    /// When ``tokens`` was counted; in the future while the host rests.
    private var counted: ContinuousClock.Instant

    init(capacity: Int, interval: Duration, at now: ContinuousClock.Instant) {
        self.capacity = Double(capacity)
        self.interval = interval
        slowest = interval
        tokens = Double(capacity)
        counted = now
    }

    /// Takes a token, and returns when the request may pass.
    mutating func take(at now: ContinuousClock.Instant) -> ContinuousClock.Instant {
        refill(at: now)
        tokens -= 1
        return max(now, counted.advanced(by: slowest * max(0, -tokens)))
    }

    /// Returns a token that was not used.
    mutating func giveBack() { tokens = min(capacity, tokens + 1) }

    /// Whether the host has asked for a rest that is not over.
    func isResting(at now: ContinuousClock.Instant) -> Bool { counted > now }

    /// Whether nothing would be lost with it.
    func isFull(at now: ContinuousClock.Instant) -> Bool {
        var copy = self
        copy.refill(at: now)
        return !isResting(at: now) && copy.tokens >= capacity && slowest == interval
    }

    /// Takes over what a host says: it never makes requests faster than the app wants them.
    mutating func learn(_ fields: RateLimitFields, at now: ContinuousClock.Instant, maximumRest: Duration) {
        refill(at: now)
        if let policy = fields.interval { slowest = max(interval, min(policy, maximumRest)) }
        guard let remaining = fields.remaining else { return }
        if remaining > 0 {
            tokens = min(tokens, Double(remaining))
        } else if let reset = fields.reset {
            // One passes when the rest is over, the others at the rate; what the next response says is the same rest.
            if !isResting(at: now) { tokens = min(tokens, 0) + 1 }
            counted = max(counted, now.advanced(by: min(reset, maximumRest)))
        }
    }

    private mutating func refill(at now: ContinuousClock.Instant) {
        guard now > counted else { return }
        tokens = min(capacity, tokens + (now - counted) / slowest)
        counted = now
    }
}

/// The buckets of all hosts; those that are full are forgotten when there are many.
final class Buckets: Sendable {
    private let capacity: Int
    private let interval: Duration
    private let buckets = Mutex<[String: Bucket]>([:])
    private static let limit = 1_000

    init(capacity: Int, interval: Duration) { (self.capacity, self.interval) = (capacity, interval) }

    /// Changes the bucket of a host, under a lock that is held for the change alone.
    @discardableResult
    func update<Result: Sendable>(
        _ host: String, at now: ContinuousClock.Instant,
        _ change: (inout Bucket, ContinuousClock.Instant) -> Result
    ) -> Result {
        buckets.withLock { buckets in
            if buckets[host] == nil, buckets.count >= Self.limit {
                buckets = buckets.filter { !$0.value.isFull(at: now) }
            }
            return change(&buckets[host, default: Bucket(capacity: capacity, interval: interval, at: now)], now)
        }
    }
}
