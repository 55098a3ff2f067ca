/// Why a regular expression is not valid or not supported, and where.
struct PatternFault: Error, Hashable {
    enum Kind: Hashable {
        /// It is no regular expression.
        case invalid
        /// It may be one, but has what is not supported.
        case unsupported
        /// It may be one, but exceeds a limit.
        case tooLarge
    }

    /// Completes "the pattern …": "has a group that is not closed".
    var reason: String
    /// The position, in Unicode scalars.
    var offset: Int
    var kind = Kind.invalid
}
