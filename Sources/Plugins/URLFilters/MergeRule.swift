/// What to do with a parameter or header that the request already has.
public enum MergeRule: Sendable, Hashable {
    /// Adds the common value after the request's own value. The default for queries.
    case append
    /// Replaces the request's own value with the common value. The default for bodies.
    case replace
    /// Keeps the request's own value and drops the common value. The default for headers.
    case keep
}
