/// Identifies the remaining filters and the transport, if they're the same for every request of an agent. If two
/// running exchanges have equal values, the same configuration of the same agent processes the rest of both.
public struct CommonWay: Hashable, Sendable {
    private let step: ObjectIdentifier
    /// Whether filters follow, in addition to redirects and the transport.
    public let hasFilters: Bool

    init(step: ObjectIdentifier, hasFilters: Bool) { (self.step, self.hasFilters) = (step, hasFilters) }
}
