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
