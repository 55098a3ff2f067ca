/// Reads JSON text (RFC 8259) token by token as they are pulled, whole text or the beginning of one.
///
/// ```swift
/// let states = Array(#"{"id": 7, "na"#.utf8).withUnsafeBufferPointer { bytes in
///     var tokenizer = JSONTokenizer(bytes, isComplete: false)
///     var states: [JSONToken.State] = []
///     while let token = tokenizer.next() { states.append(token.state) }
///     return states                                                  // .whole five times, then .cut
/// }
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
public struct JSONTokenizer {
    /// The index behind the last token.
    public private(set) var position = 0

    private let base: UnsafePointer<UInt8>
    private let count: Int
    private let isComplete: Bool

    /// Starts at the first byte.
    ///
    /// - Parameters:
    ///   - bytes: the text; it has to outlive the tokenizer.
    ///   - isComplete: whether the text ends with the bytes. If it may go on, a token that the end breaks is cut, and
    ///     not malformed. True by default.
    public init(_ bytes: UnsafeBufferPointer<UInt8>, isComplete: Bool = true) {
        // An empty text has no address; this pointer is compared only.
        base = bytes.baseAddress ?? UnsafePointer(bitPattern: 1).unsafelyUnwrapped
        count = bytes.count
        self.isComplete = isComplete
    }

    /// The next token; nil at the end.
    public mutating func next() -> JSONToken? {
        let end = base + count
        let p = JSONGrammar.skipSpace(base + position, end)
        guard p < end else {
            position = count
            return nil
        }
        let token = token(p, end)
        position = token.range.upperBound
        return token
    }

    private func token(_ p: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> JSONToken {
        let kind: JSONToken.Kind
        switch p.pointee {
        case JSONGrammar.quote: return string(p, end)
        case JSONGrammar.openBrace: kind = .openBrace
        case JSONGrammar.closeBrace: kind = .closeBrace
        case JSONGrammar.openBracket: kind = .openBracket
        case JSONGrammar.closeBracket: kind = .closeBracket
        case JSONGrammar.comma: kind = .comma
        case JSONGrammar.colon: kind = .colon
        default: return word(p, end)
        }
        return JSONToken(kind, range(p, p + 1))
    }

    private func string(_ p: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> JSONToken {
        let scan = JSONGrammar.string(p + 1, end)
        if scan.fault == .none {
            return JSONToken(.string, range(p, scan.end), content: range(p + 1, scan.end - 1))
        }
        let malformed = JSONToken.State.malformed(scan.fault, at: scan.end - base)
        let rest = UnsafeRawBufferPointer(start: scan.end, count: end - scan.end)
        var search = JSONStringScan()
        guard let length = search.end(in: rest) else {
            let isCut = !isComplete && JSONGrammar.mayGoOn(scan, end)
            return JSONToken(.string, range(p, end), content: range(p + 1, end), isCut ? .cut : malformed)
        }
        let last = scan.end + length
        return JSONToken(.string, range(p, last), content: range(p + 1, last - 1), malformed)
    }

    private func word(_ p: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> JSONToken {
        var last = p
        while last < end, Self.isWord(last.pointee) { last += 1 }
        let isOpen = last == end && !isComplete
        let (kind, scan, mayGoOn): (JSONToken.Kind, JSONScan, Bool)
        switch p.pointee {
        case 0x2D, 0x30...0x39:
            (kind, scan) = (.number, JSONGrammar.number(p, last).scan)
            mayGoOn = scan.end == last && scan.fault != .leadingZero
        case 0x74, 0x66, 0x6E:
            (kind, scan) = (.literal, JSONGrammar.literal(p, last))
            mayGoOn = JSONGrammar.mayBecomeLiteral(p, last)
        default:
            return JSONToken(.invalid, range(p, max(last, p + 1)), .malformed(.value, at: p - base))
        }
        let isWhole = scan.fault == .none && scan.end == last
        // A literal has an end of its own; more digits may follow a number.
        if isOpen, mayGoOn, !isWhole || kind == .number { return JSONToken(kind, range(p, last), .cut) }
        if isWhole { return JSONToken(kind, range(p, last)) }
        let fault = scan.fault != .none ? scan.fault : kind == .number ? .badNumber : .badLiteral
        return JSONToken(kind, range(p, last), .malformed(fault, at: scan.end - base))
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

    @inline(__always)
    private func range(_ first: UnsafePointer<UInt8>, _ last: UnsafePointer<UInt8>) -> Range<Int> {
        Range(uncheckedBounds: (first - base, last - base))
    }
}
