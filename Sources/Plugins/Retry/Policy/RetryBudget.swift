/// Limits the retries of all calls to a host, so a failing server isn't flooded.
///
/// At most `share` of all calls to a host are followed by a retry. The first `reserve` retries don't depend on earlier
/// calls, so an app that just started can retry; they count against the share of later calls. A server that fails every
/// call therefore receives at most 1 + `share` times the app's calls, once the share exceeds the reserve. Up to 100
/// unused retries are kept for later.
public struct RetryBudget: Sendable, Hashable {
    /// The number of retries per call. Defaults to 0.1.
    public var share: Double
    /// The number of retries allowed regardless of earlier calls, and at least the retries of one call. Defaults to 5.
    public var reserve: Int
    /// The time during which calls and retries count, if the host responds to some of them. Defaults to 60 seconds.
    ///
    /// A host that fails every call gets no new reserve, however long that takes.
    public var period: Duration

    /// Creates a budget. A share that is negative or not a number counts as 0.
    public init(share: Double = 0.1, reserve: Int = 5, period: Duration = .seconds(60)) {
        (self.share, self.reserve, self.period) = (share, reserve, period)
    }
}
