/// Reads JSON text (RFC 8259) token by token as they are pulled, whole text or the beginning of one.
///
/// ```swift
/// var tokenizer = JSONTokenizer(Array(#"{"id": 7, "na"#.utf8), isComplete: false)
/// var states: [JSONToken.State] = []
/// while let token = tokenizer.next() { states.append(token.state) }      // .whole five times, then .cut
/// ```
///
/// It throws nothing: each token says by its state whether it is whole, cut by the end of the input or malformed, and
/// who reads decides what to accept. Behind a malformed token it goes on with the next: a string ends at its closing
/// quote whatever stands in it, a number or a word before white space, a quote, a bracket, a comma or a colon.
///
/// The order of tokens and the depth of nesting are the caller's to check. Each byte is read once, or twice in a
/// malformed string; nothing is allocated. White space is skipped; a byte order mark is not, and is no token.
///
/// A copy reads the same tokens again, which is how to look ahead.
public struct JSONTokenizer: Sendable {
    /// The index behind the last token.
    public private(set) var position = 0

    private let text: [UInt8]
    private let isComplete: Bool

    /// Starts at the first byte.
    ///
    /// - Parameters:
    ///   - bytes: the text.
    ///   - isComplete: whether the text ends with the bytes. If it may go on, a token that the end breaks is cut, and
    ///     not malformed. True by default.
    public init(_ bytes: [UInt8], isComplete: Bool = true) {
        text = bytes
        self.isComplete = isComplete
    }

    /// The next token; nil at the end.
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
            return JSONToken(.string, range, content: start + 1..<bytes.count, isCut ? .cut : malformed)
        }
        return JSONToken(.string, start..<last, content: start + 1..<last - 1, malformed)
    }

    private func word(in bytes: Span<UInt8>, from start: Int) -> JSONToken {
        var last = start
        while last < bytes.count, Self.isWord(bytes[last]) { last += 1 }
        let isOpen = last == bytes.count && !isComplete
        let word = bytes.extracting(..<last)
        let (kind, end, mayGoOn): (JSONToken.Kind, JSONTokenEnd, Bool)
        switch bytes[start] {
        case 0x2D, 0x30...0x39:
            (kind, end) = (.number, JSONGrammar.number(in: word, from: start).end)
            mayGoOn = end.index == last && end.fault != .leadingZero
        case 0x74, 0x66, 0x6E:
            (kind, end) = (.literal, JSONGrammar.literal(in: word, from: start))
            mayGoOn = JSONGrammar.mayBecomeLiteral(word, from: start)
        default:
            return JSONToken(.invalid, start..<max(last, start + 1), .malformed(.value, at: start))
        }
        let isWhole = end.fault == .none && end.index == last
        // A literal has an end of its own; more digits may follow a number.
        if isOpen, mayGoOn, !isWhole || kind == .number { return JSONToken(kind, start..<last, .cut) }
        if isWhole { return JSONToken(kind, start..<last) }
        let fault = end.fault != .none ? end.fault : kind == .number ? .badNumber : .badLiteral
        return JSONToken(kind, start..<last, .malformed(fault, at: end.index))
    }

    /// Whether a byte belongs to the word before it.
    private static func isWord(_ byte: UInt8) -> Bool {
        switch byte {
        case 0...0x20, JSONGrammar.quote, JSONGrammar.comma, JSONGrammar.colon, JSONGrammar.openBrace,
            JSONGrammar.closeBrace, JSONGrammar.openBracket, JSONGrammar.closeBracket:
            false
        default: true
        }
    }
}
