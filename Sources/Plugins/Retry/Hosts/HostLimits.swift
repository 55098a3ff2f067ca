import Errand

/// The limits of a ``HostLimitFilter`` for each host.
public struct HostLimits: Sendable, Hashable {
    /// The maximum number of concurrent requests. A request with a streamed response counts until the body ends.
    /// Defaults to nil, which means no limit.
    public var maximumConcurrent: Int?
    /// The maximum number of requests per period. Defaults to nil, which means no limit.
    public var rate: RequestRate?
    /// The maximum pause that a host can ask for with `Retry-After` or a `RateLimit` field. Longer pauses are
    /// shortened. Defaults to 60 seconds.
    public var maximumPause: Duration = .seconds(60)
    /// The maximum time that a request waits for its turn. If the wait is longer, the request throws
    /// ``ResilienceError/Code/waitTooLong``. Defaults to 120 seconds.
    public var maximumWait: Duration = .seconds(120)
    /// The maximum number of waiting requests. Further requests throw ``ResilienceError/Code/queueFull``. Defaults to
    /// 10,000.
    public var maximumQueue = 10_000

    /// Creates limits. By default, requests are limited only if a host asks for it.
    public init(maximumConcurrent: Int? = nil, rate: RequestRate? = nil, maximumPause: Duration = .seconds(60)) {
        (self.maximumConcurrent, self.rate, self.maximumPause) = (maximumConcurrent, rate, maximumPause)
    }
}

/// The number of requests allowed in any period of a given length: `RequestRate(100, per: .seconds(60))`.
public struct RequestRate: Sendable, Hashable {
    /// The number of requests allowed per period, at least 1.
    public let count: Int
    /// The length of the period. Zero means no limit.
    public let period: Duration

    /// Creates a rate. The count is limited to 1 through 100,000. A negative period counts as zero.
    public init(_ count: Int, per period: Duration) {
        self.count = min(max(1, count), 100_000)
        self.period = period.bounded
    }
}

/// A ring buffer with the start times of the last requests.
struct RateWindow {
    private var sent: [Duration] = []
    private var oldest = 0

    func opening(at now: Duration, position: Int, _ rate: RequestRate?) -> Duration {
        guard let rate, rate.period > .zero else { return now }
        let ahead = position - (rate.count - sent.count)
        guard ahead >= 0 else { return now }
        let index = ahead % rate.count
        let base = index < sent.count ? sent[(oldest + index) % sent.count] : nil
        return (base ?? now - rate.period) + rate.period * (1 + ahead / rate.count)
    }

    mutating func add(_ now: Duration, _ rate: RequestRate?) {
        guard let rate, rate.period > .zero else { return }
        if sent.count < rate.count {
            sent.append(now)
        } else {
            sent[oldest] = now
            oldest = (oldest + 1) % rate.count
        }
    }

    mutating func remove(_ time: Duration) {
        // A buffer that isn't full must start with its oldest time.
        sent = Array(sent[oldest...] + sent[..<oldest])
        oldest = 0
        if let index = sent.firstIndex(of: time) { sent.remove(at: index) }
    }

    func isOver(at now: Duration, _ rate: RequestRate?) -> Bool {
        guard let rate, !sent.isEmpty else { return true }
        return sent[(oldest + sent.count - 1) % sent.count] + rate.period <= now
    }
}
