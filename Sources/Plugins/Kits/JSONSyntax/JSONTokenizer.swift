/// Reads JSON text (RFC 8259) one token at a time. The text can be incomplete.
///
/// ```swift
/// var tokenizer = JSONTokenizer(Array(#"{"id": 7, "na"#.utf8), isComplete: false)
/// var states: [JSONToken.State] = []
/// while let token = tokenizer.next() { states.append(token.state) }      // .whole five times, then .cut
/// ```
///
/// The tokenizer never throws. A token's state tells whether the token is whole, cut off by the end of the input, or
/// malformed. Reading continues after a malformed token. A malformed string extends to its closing quote. A malformed
/// number or word ends before whitespace, a quote, a bracket, a comma, or a colon.
///
/// The tokenizer skips whitespace, but not a byte order mark. It doesn't check the order of tokens or the nesting
/// depth, and doesn't allocate memory while it reads. To look ahead, copy the tokenizer and read from the copy.
public struct JSONTokenizer: Sendable {
    /// The index after the last token.
    public private(set) var position = 0

    private let text: ContiguousArray<UInt8>
    private let isComplete: Bool

    /// Creates a tokenizer.
    ///
    /// - Parameter isComplete: Whether the bytes are the whole text. If `false`, an incomplete token at the end has the
    ///   state ``JSONToken/State/cut`` instead of ``JSONToken/State/malformed(_:at:)``. Defaults to `true`.
    public init(_ bytes: [UInt8], isComplete: Bool = true) {
        text = ContiguousArray(bytes)
        self.isComplete = isComplete
    }

    /// Returns the next token, or `nil` at the end.
    public mutating func next() -> JSONToken? {
        let start = JSONGrammar.skipSpace(in: text.span, from: position)
        guard start < text.count else {
            position = text.count
            return nil
        }
        let token = token(in: text.span, from: start)
        position = token.range.upperBound
        return token
    }

    private func token(in bytes: Span<UInt8>, from start: Int) -> JSONToken {
        let kind: JSONToken.Kind
        switch bytes[start] {
        case JSONGrammar.quote: return string(in: bytes, from: start)
        case JSONGrammar.openBrace: kind = .openBrace
        case JSONGrammar.closeBrace: kind = .closeBrace
        case JSONGrammar.openBracket: kind = .openBracket
        case JSONGrammar.closeBracket: kind = .closeBracket
        case JSONGrammar.comma: kind = .comma
        case JSONGrammar.colon: kind = .colon
        default: return word(in: bytes, from: start)
        }
        return JSONToken(kind, start..<start + 1)
    }

    private func string(in bytes: Span<UInt8>, from start: Int) -> JSONToken {
        let end = JSONGrammar.string(in: bytes, from: start + 1)
        if end.fault == .none {
            return JSONToken(.string, start..<end.index, content: start + 1..<end.index - 1)
        }
        let malformed = JSONToken.State.malformed(end.fault, at: end.index)
        var search = JSONStringScan()
        guard let last = search.end(in: bytes, from: end.index) else {
            let isCut = !isComplete && JSONGrammar.mayGoOn(end, in: bytes)
            let range = start..<bytes.count
            return JSONToken(.string, range, content: start + 1..<bytes.count, state: isCut ? .cut : malformed)
        }
        return JSONToken(.string, start..<last, content: start + 1..<last - 1, state: malformed)
    }

    private func word(in bytes: Span<UInt8>, from start: Int) -> JSONToken {
        var last = start
        while last < bytes.count, Self.isWord(bytes[last]) { last += 1 }
        let isOpen = last == bytes.count && !isComplete
        let word = bytes.extracting(..<last)
        let (kind, end, mayGoOn): (JSONToken.Kind, JSONTokenEnd, Bool)
        switch bytes[start] {
        case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
            (kind, end) = (.number, JSONGrammar.number(in: word, from: start).end)
            mayGoOn = end.index == last && end.fault != .leadingZero
        case UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"):
            (kind, end) = (.literal, JSONGrammar.literal(in: word, from: start))
            mayGoOn = JSONGrammar.mayBecomeLiteral(word, from: start)
        default:
            return JSONToken(.invalid, start..<max(last, start + 1), state: .malformed(.value, at: start))
        }
        let isWhole = end.fault == .none && end.index == last
        // A number may continue with more digits. A literal can't.
        if isOpen, mayGoOn, !isWhole || kind == .number { return JSONToken(kind, start..<last, state: .cut) }
        if isWhole { return JSONToken(kind, start..<last) }
        let fault = end.fault != .none ? end.fault : kind == .number ? .badNumber : .badLiteral
        return JSONToken(kind, start..<last, state: .malformed(fault, at: end.index))
    }

    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, JSONGrammar.quote, JSONGrammar.comma, JSONGrammar.colon, JSONGrammar.openBrace,
            JSONGrammar.closeBrace, JSONGrammar.openBracket, JSONGrammar.closeBracket:
            false
        default: true
        }
    }
}

/// A token of JSON text and its position.
public struct JSONToken: Sendable, Hashable {
    /// The kind of a token, which the token's first byte determines.
    public enum Kind: Sendable, Hashable {
        /// The token `{`.
        case openBrace
        /// The token `}`.
        case closeBrace
        /// The token `[`.
        case openBracket
        /// The token `]`.
        case closeBracket
        /// The token `,`.
        case comma
        /// The token `:`.
        case colon
        /// A string, either a value or a key.
        case string
        /// A number with its sign, fraction, and exponent.
        case number
        /// The word `true`, `false`, or `null`.
        case literal
        /// Bytes that don't begin a token.
        case invalid
    }

    /// Whether a token is valid and complete.
    public enum State: Sendable, Hashable {
        /// The token is valid (RFC 8259) and complete.
        case whole
        /// The input ends within the token, or directly after a number that may have more digits. The token is valid so
        /// far.
        case cut
        /// The token is invalid. Contains the reason and the index of the faulty byte.
        case malformed(JSONFault, at: Int)
    }

    /// The kind of the token.
    public let kind: Kind
    /// Whether the token is valid and complete.
    public let state: State
    /// The bytes of the token. Includes the quotes of a string.
    public let range: Range<Int>
    /// The bytes between a string's quotes, or to the end of the input if the closing quote is missing. The same as
    /// ``range`` for other tokens.
    public let content: Range<Int>

    @inline(__always) init(_ kind: Kind, _ range: Range<Int>, content: Range<Int>? = nil, state: State = .whole) {
        self.kind = kind
        self.state = state
        self.range = range
        self.content = content ?? range
    }
}
