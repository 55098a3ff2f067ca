/// The retries that all calls to a host may make together, so that a failing server is not flooded.
///
/// At most `share` of all calls to a host are followed by a retry. The first `reserve` retries need no earlier calls,
/// so that an app that has just started can retry; they count against the share of later ones. A server that fails
/// every call gets at most 1 + `share` times the calls of the app, once that is more than the reserve. At most 100
/// unused retries are kept for later.
public struct RetryBudget: Sendable, Hashable {
    /// The number of retries for each call, 0.1 by default.
    public var share: Double
    /// The number of retries that are allowed however few calls there were: 5 by default, and never less than one call
    /// may make.
    public var reserve: Int
    /// The time for which calls and retries count, as long as the host responds to some of them: a minute by default. A
    /// host that fails every call gets no new reserve, however long that takes.
    public var period: Duration

    /// Makes a budget. A share that is no number or negative counts as 0.
    public init(share: Double = 0.1, reserve: Int = 5, period: Duration = .seconds(60)) {
        (self.share, self.reserve, self.period) = (share, reserve, period)
    }
}
