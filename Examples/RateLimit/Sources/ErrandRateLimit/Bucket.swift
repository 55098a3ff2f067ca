import Synchronization

/// A host's token bucket. The count is negative while requests wait, because each takes its token in advance.
struct Bucket: Sendable {
    let capacity: Double
    /// The app's time per token.
    let interval: Duration
    /// The current time per token: the app's, or the host's if that is longer.
    private var slowest: Duration
    private var tokens: Double
    /// When ``tokens`` was last counted. In the future while the host is paused.
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

    /// Returns an unused token.
    mutating func giveBack() { tokens = min(capacity, tokens + 1) }

    /// Whether the host has asked for a pause that isn't over.
    func isResting(at now: ContinuousClock.Instant) -> Bool { counted > now }

    /// Whether the bucket can be dropped without losing state.
    func isFull(at now: ContinuousClock.Instant) -> Bool {
        var copy = self
        copy.refill(at: now)
        return !isResting(at: now) && copy.tokens >= capacity && slowest == interval
    }

    /// Applies the limits that a host reports. They never make requests faster than the app's rate.
    mutating func learn(_ fields: RateLimitFields, at now: ContinuousClock.Instant, maximumRest: Duration) {
        refill(at: now)
        if let policy = fields.interval { slowest = max(interval, min(policy, maximumRest)) }
        guard let remaining = fields.remaining else { return }
        if remaining > 0 {
            tokens = min(tokens, Double(remaining))
        } else if let reset = fields.reset {
            // When the pause is over, one request passes at once, and the others follow at the rate. Later responses
            // announce the same pause again, and don't change the tokens.
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

/// The buckets of all hosts. Above 1,000 hosts, full buckets are dropped.
final class Buckets: Sendable {
    private let capacity: Int
    private let interval: Duration
    private let buckets = Mutex<[String: Bucket]>([:])
    private static let limit = 1_000

    init(capacity: Int, interval: Duration) { (self.capacity, self.interval) = (capacity, interval) }

    /// Changes a host's bucket. The lock is held only for the change.
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
