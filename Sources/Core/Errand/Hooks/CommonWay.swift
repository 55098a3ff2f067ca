/// The filters and the transport that follow a filter for every request of an agent. Of two exchanges under way that
/// have equal ones, the same configuration of the same agent does the rest.
public struct CommonWay: Hashable, Sendable {
    private let step: ObjectIdentifier
    /// Whether filters follow, and not only redirects and the transport.
    public let hasFilters: Bool

    init(step: ObjectIdentifier, hasFilters: Bool) { (self.step, self.hasFilters) = (step, hasFilters) }
}
