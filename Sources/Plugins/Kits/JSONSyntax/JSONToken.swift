/// A token of JSON text and its position, as read by a ``JSONTokenizer``.
public struct JSONToken: Sendable, Hashable {
    /// The kind of a token, determined by its first byte.
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
        /// A string, either a value or a key.
        case string
        /// A number.
        case number
        /// `true`, `false` or `null`.
        case literal
        /// Bytes that don't begin a token.
        case invalid
    }

    /// Whether a token is valid and complete.
    public enum State: Sendable, Hashable {
        /// The token is valid (RFC 8259) and complete.
        case whole
        /// The input ends within the token, or might: a number may have more digits. The token is valid so far.
        case cut
        /// The token is invalid, with the reason and the index of the faulty byte.
        case malformed(JSONFault, at: Int)
    }

    /// The kind of the token.
    public let kind: Kind
    /// Whether the token is valid and complete.
    public let state: State
    /// The bytes of the token. For a string, this includes the quotes.
    public let range: Range<Int>
    /// The bytes between a string's quotes, or to the end of the input if the closing quote is missing. For other
    /// tokens, the same as ``range``.
    public let content: Range<Int>

    @inline(__always) init(_ kind: Kind, _ range: Range<Int>, content: Range<Int>? = nil, _ state: State = .whole) {
        self.kind = kind
        self.state = state
        self.range = range
        self.content = content ?? range
    }
}
