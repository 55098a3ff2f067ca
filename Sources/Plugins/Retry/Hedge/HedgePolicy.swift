/// When a second request is sent beside the first.
public struct HedgePolicy: Sendable, Hashable {
    /// Second requests for each call, at most; 0.05 by default.
    public var share: Double
    /// The part of the earlier requests that were faster than the first one is now; 0.95 by default.
    public var percentile: Double
    /// The fewest earlier requests to the host that a percentile means something of; 20 by default. Until then nothing is
    /// hedged.
    public var minimumSamples: Int
    /// The shortest time before a second request; a millisecond by default.
    public var minimumDelay: Duration = .milliseconds(1)
    /// Whether the request may be sent twice, whatever its method; nil, the default, judges by the method.
    public var isRepeatable: Bool?

    /// Makes a policy; what is not said has its default. Shares outside of 0 to 1 are cut to that.
    public init(share: Double = 0.05, percentile: Double = 0.95, minimumSamples: Int = 20) {
        self.share = share
        self.percentile = percentile
        self.minimumSamples = minimumSamples
    }
}
