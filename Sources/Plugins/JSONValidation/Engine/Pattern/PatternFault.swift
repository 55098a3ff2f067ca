/// Why a regular expression is not valid or not supported, and where.
struct PatternFault: Error, Hashable {
    /// Completes "the pattern …": "has a group that is not closed".
    var reason: String
    /// The position, in Unicode scalars.
    var offset: Int
    /// Whether the expression may be valid, but has what is not supported.
    var isUnsupported = false
}
