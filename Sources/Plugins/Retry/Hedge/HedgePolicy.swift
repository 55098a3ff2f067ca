/// When ``HedgeFilter`` sends a second request.
public struct HedgePolicy: Sendable, Hashable {
    /// The maximum share of calls for which a second request is sent, from 0 to 1. Defaults to 0.05.
    public var share: Double
    /// How slow a request must be, as the share of recent requests to its host that were faster. Defaults to 0.95.
    public var percentile: Double
    /// The minimum number of earlier requests to a host before the filter hedges requests to that host. Defaults to 20.
    public var minimumSamples: Int
    /// The shortest wait before a second request. Defaults to 1 millisecond.
    public var minimumDelay: Duration = .milliseconds(1)
    /// Whether requests can be sent twice. Defaults to nil, which allows it only for requests with idempotent methods.
    public var isRepeatable: Bool?

    /// Creates a policy. Arguments default to the values of the properties.
    public init(share: Double = 0.05, percentile: Double = 0.95, minimumSamples: Int = 20) {
        self.share = share
        self.percentile = percentile
        self.minimumSamples = minimumSamples
    }
}
