/// Identifies the filters and the transport after a filter, if every request of the agent uses them. Running exchanges
/// with equal values are processed by the same configuration of the same agent.
public struct RemainingPipeline: Hashable, Sendable {
    private let step: ObjectIdentifier
    /// Whether filters follow, not only redirects and the transport.
    public let hasFilters: Bool

    init(step: ObjectIdentifier, hasFilters: Bool) { (self.step, self.hasFilters) = (step, hasFilters) }
}
