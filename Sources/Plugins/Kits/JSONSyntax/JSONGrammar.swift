/// The tokens of JSON text (RFC 8259), to the letter, over bytes in memory.
///
/// ```swift
/// let isString = Array(#""a\n""#.utf8).withUnsafeBufferPointer { text in
///     guard let start = text.baseAddress else { return false }
///     let scan = JSONGrammar.string(start + 1, start + text.count)      // behind the first quote
///     return scan.fault == .none && scan.end == start + text.count      // true
/// }
/// ```
///
/// These functions are the layer for parsers that count nanoseconds: each takes where its token begins and where the
/// text ends, reads nothing beyond that end, allocates nothing, and returns where the token ends, or where it is wrong
/// and why. A ``JSONTokenizer`` reads tokens one after the other, cut text among it; ``JSONStringScan`` follows a
/// string that comes in pieces.
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

    /// The next byte that is not white space, or the end.
    @inlinable @inline(__always)
    public static func skipSpace(_ p: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
        p < end && p.pointee <= 0x20 ? skipSpaces(p, end) : p
    }

    @usableFromInline @inline(never)
    static func skipSpaces(_ p: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
        var p = p
        while p < end {
            // Indentation is often a multiple of eight bytes.
            while end - p >= 8, JSONWord.load(p) == 0x2020_2020_2020_2020 { p += 8 }
            guard p < end else { break }
            switch p.pointee {
            case 0x20, 0x0A, 0x0D, 0x09: p += 1
            default: return p
            }
        }
        return p
    }

    // MARK: Numbers (section 6)

    /// A number, from its minus sign or first digit to behind its last digit.
    ///
    /// - Returns: where it ends, and whether it has neither fraction nor exponent. Its value is a ``JSONNumber``.
    @inlinable @inline(__always)
    public static func number(
        _ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>
    ) -> (scan: JSONScan, isPlain: Bool) {
        var p = start
        if p.pointee == 0x2D { p += 1 }
        guard p < end else { return (JSONScan(end: p, fault: .badNumber), true) }
        if p.pointee == 0x30 {
            p += 1
            if p < end, isDigit(p.pointee) { return (JSONScan(end: p, fault: .leadingZero), true) }
        } else {
            guard isDigit(p.pointee) else { return (JSONScan(end: p, fault: .badNumber), true) }
            p = digits(p + 1, end)
        }
        guard p < end, p.pointee == 0x2E || p.pointee | 0x20 == 0x65 else { return (JSONScan(end: p), true) }
        return (fraction(p, end), false)
    }

    @usableFromInline
    static func fraction(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> JSONScan {
        var p = start
        if p.pointee == 0x2E {
            p += 1
            guard p < end, isDigit(p.pointee) else { return JSONScan(end: p, fault: .badNumber) }
            p = digits(p + 1, end)
        }
        if p < end, p.pointee | 0x20 == 0x65 {
            p += 1
            if p < end, p.pointee == 0x2B || p.pointee == 0x2D { p += 1 }
            guard p < end, isDigit(p.pointee) else { return JSONScan(end: p, fault: .badNumber) }
            p = digits(p + 1, end)
        }
        return JSONScan(end: p)
    }

    @inlinable @inline(__always)
    static func digits(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
        var p = start
        while p < end, isDigit(p.pointee) { p += 1 }
        return p
    }

    /// Whether the byte is one of the ten digits.
    @inlinable @inline(__always) public static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    // MARK: true, false, null (section 3)

    /// `true`, `false` or `null`, from its first letter to behind its last.
    @inlinable @inline(__always)
    public static func literal(_ p: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> JSONScan {
        if end - p >= 4 {
            let four = UInt32(littleEndian: UnsafeRawPointer(p).loadUnaligned(as: UInt32.self))
            if four == 0x6575_7274 || four == 0x6C6C_756E { return JSONScan(end: p + 4) }
            if four == 0x736C_6166, end - p >= 5, p[4] == 0x65 { return JSONScan(end: p + 5) }
        }
        return JSONScan(end: p, fault: .badLiteral)
    }
}

/// The end of a token, or the position and the fault of an invalid one.
@frozen public struct JSONScan {
    /// Behind the token; the byte at fault in an invalid one.
    public var end: UnsafePointer<UInt8>
    /// ``JSONFault/none`` for a valid token.
    public var fault: JSONFault

    /// Makes a result; a valid token by default.
    @inlinable @inline(__always) public init(end: UnsafePointer<UInt8>, fault: JSONFault = .none) {
        self.end = end
        self.fault = fault
    }
}
