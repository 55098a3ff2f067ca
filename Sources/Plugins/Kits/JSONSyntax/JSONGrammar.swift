/// The tokens of JSON text (RFC 8259), to the letter, over bytes in memory.
///
/// ```swift
/// let text = Array(#""a\n""#.utf8)
/// let end = JSONGrammar.string(in: text.span, from: 1)                    // behind the first quote
/// let isString = end.fault == .none && end.index == text.count            // true
/// ```
///
/// These functions are the layer for parsers that count nanoseconds: each takes a text and the index at which its token
/// begins, allocates nothing, and returns where the token ends, or where it is wrong and why. An index beyond the text is a
/// programming error and stops the program. A ``JSONTokenizer`` reads tokens one after the other, cut text among it;
/// ``JSONStringScan`` follows a string that comes in pieces.
public enum JSONGrammar {
    /// `"`
    @inlinable public static var quote: UInt8 { 0x22 }
    /// `\`
    @inlinable public static var backslash: UInt8 { 0x5C }
    /// `,`
    @inlinable public static var comma: UInt8 { 0x2C }
    /// `:`
    @inlinable public static var colon: UInt8 { 0x3A }
    /// `{`; its closing brace is two behind it in ASCII, as the closing bracket is behind `[`.
    @inlinable public static var openBrace: UInt8 { 0x7B }
    /// `}`
    @inlinable public static var closeBrace: UInt8 { 0x7D }
    /// `[`
    @inlinable public static var openBracket: UInt8 { 0x5B }
    /// `]`
    @inlinable public static var closeBracket: UInt8 { 0x5D }

    // MARK: White space (section 2)

    /// Whether the byte is white space: space, tab, line feed or carriage return.
    @inlinable @inline(__always) public static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    /// The index of the next byte that is not white space, or the end.
    @inlinable @inline(__always) public static func skipSpace(in bytes: Span<UInt8>, from start: Int) -> Int {
        start < bytes.count && bytes[start] <= 0x20 ? skipSpaces(in: bytes, from: start) : start
    }

    @usableFromInline @inline(never) static func skipSpaces(in bytes: Span<UInt8>, from start: Int) -> Int {
        var index = start
        while index < bytes.count {
            // Indentation is often a multiple of eight bytes.
            while bytes.count &- index >= 8, JSONWord.load(bytes, at: index) == 0x2020_2020_2020_2020 { index &+= 8 }
            guard index < bytes.count, isSpace(bytes[index]) else { break }
            index &+= 1
        }
        return index
    }

    // MARK: Numbers (section 6)

    /// A number, from its minus sign or first digit to behind its last digit.
    ///
    /// - Returns: where it ends, and whether it has neither fraction nor exponent. Its value is a ``JSONNumber``.
    @inlinable @inline(__always)
    public static func number(in bytes: Span<UInt8>, from start: Int) -> (end: JSONTokenEnd, isPlain: Bool) {
        var index = start
        if bytes[index] == 0x2D { index &+= 1 }
        guard index < bytes.count else { return (JSONTokenEnd(index, .badNumber), true) }
        if bytes[index] == 0x30 {
            index &+= 1
            if index < bytes.count, isDigit(bytes[index]) { return (JSONTokenEnd(index, .leadingZero), true) }
        } else {
            guard isDigit(bytes[index]) else { return (JSONTokenEnd(index, .badNumber), true) }
            index = digits(in: bytes, from: index &+ 1)
        }
        guard index < bytes.count, bytes[index] == 0x2E || bytes[index] | 0x20 == 0x65 else {
            return (JSONTokenEnd(index), true)
        }
        return (fraction(in: bytes, from: index), false)
    }

    @usableFromInline static func fraction(in bytes: Span<UInt8>, from start: Int) -> JSONTokenEnd {
        var index = start
        if bytes[index] == 0x2E {
            index &+= 1
            guard index < bytes.count, isDigit(bytes[index]) else { return JSONTokenEnd(index, .badNumber) }
            index = digits(in: bytes, from: index &+ 1)
        }
        if index < bytes.count, bytes[index] | 0x20 == 0x65 {
            index &+= 1
            if index < bytes.count, bytes[index] == 0x2B || bytes[index] == 0x2D { index &+= 1 }
            guard index < bytes.count, isDigit(bytes[index]) else { return JSONTokenEnd(index, .badNumber) }
            index = digits(in: bytes, from: index &+ 1)
        }
        return JSONTokenEnd(index)
    }

    @inlinable @inline(__always) static func digits(in bytes: Span<UInt8>, from start: Int) -> Int {
        var index = start
        while index < bytes.count, isDigit(bytes[index]) { index &+= 1 }
        return index
    }

    /// Whether the byte is one of the ten digits.
    @inlinable @inline(__always) public static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    // MARK: true, false, null (section 3)

    /// `true`, `false` or `null`, from its first letter to behind its last.
    @inlinable @inline(__always)
    public static func literal(in bytes: Span<UInt8>, from start: Int) -> JSONTokenEnd {
        if bytes.count &- start >= 4 {
            let part = bytes.extracting(start..<start &+ 4)
            let four = UInt32(part[0]) | UInt32(part[1]) &<< 8 | UInt32(part[2]) &<< 16 | UInt32(part[3]) &<< 24
            if four == 0x6575_7274 || four == 0x6C6C_756E { return JSONTokenEnd(start &+ 4) }
            if four == 0x736C_6166, bytes.count &- start >= 5, bytes[start &+ 4] == 0x65 {
                return JSONTokenEnd(start &+ 5)
            }
        }
        return JSONTokenEnd(start, .badLiteral)
    }
}

/// The end of a token, or the index and the fault of an invalid one.
@frozen public struct JSONTokenEnd: Sendable, Hashable {
    /// Behind the token; the byte at fault in an invalid one.
    public var index: Int
    /// ``JSONFault/none`` for a valid token.
    public var fault: JSONFault

    /// Makes a result; a valid token by default.
    @inlinable @inline(__always) public init(_ index: Int, _ fault: JSONFault = .none) {
        self.index = index
        self.fault = fault
    }
}
