/// The conditions for a second request beside the first.
public struct HedgePolicy: Sendable, Hashable {
    /// The maximum share of second requests for each call; 0.05 by default.
    public var share: Double
    /// The part of the earlier requests that were faster than the first one; 0.95 by default.
    public var percentile: Double
    /// The minimum number of earlier requests to the host for a percentile to count; 20 by default. Until then nothing
    /// is hedged.
    public var minimumSamples: Int
    /// The minimum time before a second request; a millisecond by default.
    public var minimumDelay: Duration = .milliseconds(1)
    /// Whether the request may be sent twice, whatever its method; nil, the default, decides by the method.
    public var isRepeatable: Bool?

    /// Makes a policy; the defaults are those of the properties. A share below 0 counts as 0, one above 1 as 1.
    public init(share: Double = 0.05, percentile: Double = 0.95, minimumSamples: Int = 20) {
        self.share = share
        self.percentile = percentile
        self.minimumSamples = minimumSamples
    }
}
