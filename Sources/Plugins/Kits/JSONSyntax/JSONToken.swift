/// One token of JSON text, and where it stands; a ``JSONTokenizer`` reads them.
public struct JSONToken: Sendable, Hashable {
    /// The kind of a token, by its first byte.
    public enum Kind: Sendable, Hashable {
        /// `{`
        case openBrace
        /// `}`
        case closeBrace
        /// `[`
        case openBracket
        /// `]`
        case closeBracket
        /// `,`
        case comma
        /// `:`
        case colon
        /// A string: a value, or the key of a member.
        case string
        /// A number.
        case number
        /// `true`, `false` or `null`.
        case literal
        /// Bytes that begin no token.
        case invalid
    }

    /// Whether a token is correct, and complete.
    public enum State: Sendable, Hashable {
        /// The token is complete, to the letter of RFC 8259.
        case whole
        /// The input ends within the token, or may do so: more digits may follow a number. It is correct up to there.
        case cut
        /// The token is wrong, for a reason and at the index of a byte.
        case malformed(JSONFault, at: Int)
    }

    /// The kind of the token.
    public let kind: Kind
    /// Whether the token is correct, and complete.
    public let state: State
    /// The bytes of the token, the quotes of a string included.
    public let range: Range<Int>
    /// The bytes between the quotes of a string, or behind the first one if the input ends before the second; else the
    /// range.
    public let content: Range<Int>

    @inline(__always) init(_ kind: Kind, _ range: Range<Int>, content: Range<Int>? = nil, _ state: State = .whole) {
        self.kind = kind
        self.state = state
        self.range = range
        self.content = content ?? range
    }
}
