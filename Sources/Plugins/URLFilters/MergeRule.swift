/// The rule for a parameter or header that the request has already.
public enum MergeRule: Sendable, Hashable {
    /// Adds the common one after the request's own. The default for queries.
    case append
    /// Replaces the request's own with the common one. The default for bodies.
    case replace
    /// Keeps the request's own, and leaves out the common one. The default for headers.
    case keep
}
