import Errand

/// A number of requests in any period of a length: `RequestRate(100, per: .seconds(60))`.
public struct RequestRate: Sendable, Hashable {
    /// The number of requests, at least 1.
    public let count: Int
    /// The length of the period; zero for no limit.
    public let period: Duration

    /// Makes a rate. A count below 1 counts as 1, one above 100,000 as 100,000; a negative period as zero.
    public init(_ count: Int, per period: Duration) {
        self.count = min(max(1, count), 100_000)
        self.period = period.bounded
    }
}

/// The times at which the last requests were sent, as many as a rate counts.
struct RateWindow {
    private var sent: [Duration] = []
    /// The index of the oldest one, once there are as many as the rate counts.
    private var oldest = 0

    /// The earliest time at which a request may be sent that has this many others before it.
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

    /// Takes back the time of a request that was not sent after all.
    mutating func remove(_ time: Duration) {
        // In the order of time: what is not full begins with its oldest.
        sent = Array(sent[oldest...] + sent[..<oldest])
        oldest = 0
        if let index = sent.firstIndex(of: time) { sent.remove(at: index) }
    }

    /// Whether no time counts any more.
    func isOver(at now: Duration, _ rate: RequestRate?) -> Bool {
        guard let rate, !sent.isEmpty else { return true }
        return sent[(oldest + sent.count - 1) % sent.count] + rate.period <= now
    }
}
