/// What happens to a common parameter or header whose name the request has already.
public enum MergeRule: Sendable, Hashable {
    /// Both stand there, the request's own first. The default for queries.
    case append
    /// The common one takes the place of all of the request's. The default for bodies.
    case replace
    /// The request's own stay, the common one is left out. The default for headers.
    case keep
}
