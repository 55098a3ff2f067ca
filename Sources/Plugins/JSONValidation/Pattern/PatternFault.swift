/// Why a regular expression is not valid or not supported, and where.
package struct PatternFault: Error, Hashable {
    package enum Kind: Hashable {
        /// It is no regular expression.
        case invalid
        /// It may be one, but has what is not supported.
        case unsupported
        /// It may be one, but exceeds a limit.
        case tooLarge
    }

    /// Completes "the pattern …": "has a group that is not closed".
    package var reason: String
    /// The position, in Unicode scalars.
    package var offset: Int
    package var kind = Kind.invalid

    /// A sentence that contains the pattern.
    package func message(of pattern: String) -> String {
        "the pattern \(MessageText.shown(pattern, limit: 200)) \(reason) (character \(offset))"
    }
}
