import ErrandMessageSyntax

/// Scans the tokens of JSON text (RFC 8259).
///
/// ```swift
/// let text = Array(#""a\n""#.utf8)
/// let end = JSONGrammar.string(in: text.span, from: 1)                    // after the first quote
/// let isString = end.fault == .none && end.index == text.count            // true
/// ```
///
/// Each function takes a text and the index at which a token begins. It returns the token's end, or the index of a
/// fault and its reason. The functions that scan don't allocate memory. An index beyond the text stops the program.
///
/// To read one token after another, even from incomplete text, use ``JSONTokenizer``. To scan a string that arrives in
/// pieces, use ``JSONStringScan``.
public enum JSONGrammar {
    /// The byte of `"`.
    @inlinable public static var quote: UInt8 { 0x22 }
    /// The byte of `\`.
    @inlinable public static var backslash: UInt8 { 0x5C }
    /// The byte of `,`.
    @inlinable public static var comma: UInt8 { 0x2C }
    /// The byte of `:`.
    @inlinable public static var colon: UInt8 { 0x3A }
    /// The byte of `{`. The code of `}` is two higher, as the code of `]` is two higher than the code of `[`.
    @inlinable public static var openBrace: UInt8 { 0x7B }
    /// The byte of `}`.
    @inlinable public static var closeBrace: UInt8 { 0x7D }
    /// The byte of `[`.
    @inlinable public static var openBracket: UInt8 { 0x5B }
    /// The byte of `]`.
    @inlinable public static var closeBracket: UInt8 { 0x5D }

    // MARK: Whitespace (section 2)

    /// Returns whether a byte is a space, tab, line feed, or carriage return.
    @inlinable @inline(__always) public static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    /// Returns the index of the next byte that isn't whitespace, or the end.
    @inlinable @inline(__always) public static func skipSpace(in bytes: Span<UInt8>, from start: Int) -> Int {
        start < bytes.count && bytes[start] <= 0x20 ? skipSpaces(in: bytes, from: start) : start
    }

    @usableFromInline @inline(never) static func skipSpaces(in bytes: Span<UInt8>, from start: Int) -> Int {
        var index = start
        while index < bytes.count {
            // Indentation is often a multiple of eight spaces.
            while bytes.count &- index >= 8, JSONWord.load(bytes, at: index) == 0x2020_2020_2020_2020 { index &+= 8 }
            guard index < bytes.count, isSpace(bytes[index]) else { break }
            index &+= 1
        }
        return index
    }

    // MARK: Numbers (section 6)

    /// Scans a number, starting at its minus sign or first digit.
    ///
    /// - Returns: The number's end, and whether the number has neither a fraction nor an exponent. Use ``JSONNumber``
    ///   to get its value.
    @inlinable @inline(__always)
    public static func number(in bytes: Span<UInt8>, from start: Int) -> (end: JSONTokenEnd, isPlain: Bool) {
        var index = start
        if bytes[index] == UInt8(ascii: "-") { index &+= 1 }
        guard index < bytes.count else { return (JSONTokenEnd(index, .badNumber), true) }
        if bytes[index] == UInt8(ascii: "0") {
            index &+= 1
            if index < bytes.count, isDigit(bytes[index]) { return (JSONTokenEnd(index, .leadingZero), true) }
        } else {
            guard isDigit(bytes[index]) else { return (JSONTokenEnd(index, .badNumber), true) }
            index = digits(in: bytes, from: index &+ 1)
        }
        guard index < bytes.count, bytes[index] == UInt8(ascii: ".") || bytes[index] | 0x20 == UInt8(ascii: "e") else {
            return (JSONTokenEnd(index), true)
        }
        return (fraction(in: bytes, from: index), false)
    }

    @usableFromInline static func fraction(in bytes: Span<UInt8>, from start: Int) -> JSONTokenEnd {
        var index = start
        if bytes[index] == UInt8(ascii: ".") {
            index &+= 1
            guard index < bytes.count, isDigit(bytes[index]) else { return JSONTokenEnd(index, .badNumber) }
            index = digits(in: bytes, from: index &+ 1)
        }
        if index < bytes.count, bytes[index] | 0x20 == UInt8(ascii: "e") {
            index &+= 1
            if index < bytes.count, bytes[index] == UInt8(ascii: "+") || bytes[index] == UInt8(ascii: "-") {
                index &+= 1
            }
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

    /// Returns whether a byte is an ASCII digit.
    @inlinable @inline(__always) public static func isDigit(_ byte: UInt8) -> Bool { byte &- UInt8(ascii: "0") < 10 }

    // MARK: true, false, null (section 3)

    // The first four bytes of each literal as a number. The first byte is the lowest.
    @inlinable static var trueStart: UInt32 { 0x6575_7274 }
    @inlinable static var falseStart: UInt32 { 0x736C_6166 }
    @inlinable static var nullStart: UInt32 { 0x6C6C_756E }

    /// Scans `true`, `false`, or `null`, starting at its first letter.
    @inlinable @inline(__always)
    public static func literal(in bytes: Span<UInt8>, from start: Int) -> JSONTokenEnd {
        if bytes.count &- start >= 4 {
            let part = bytes.extracting(start..<start &+ 4)
            let four = UInt32(part[0]) | UInt32(part[1]) &<< 8 | UInt32(part[2]) &<< 16 | UInt32(part[3]) &<< 24
            if four == trueStart || four == nullStart { return JSONTokenEnd(start &+ 4) }
            if four == falseStart, bytes.count &- start >= 5, bytes[start &+ 4] == UInt8(ascii: "e") {
                return JSONTokenEnd(start &+ 5)
            }
        }
        return JSONTokenEnd(start, .badLiteral)
    }
}

/// The end of a token, or a fault and its index.
@frozen public struct JSONTokenEnd: Sendable, Hashable {
    /// The index after the token, or of the faulty byte.
    public var index: Int
    /// The fault, or ``JSONFault/none`` for a valid token.
    public var fault: JSONFault

    /// Creates a result. By default, the token is valid.
    @inlinable @inline(__always) public init(_ index: Int, _ fault: JSONFault = .none) {
        self.index = index
        self.fault = fault
    }
}

// Distinguishes faults that more input may fix from definite faults.
extension JSONGrammar {
    /// Whether more bytes could fix a faulty string.
    static func mayGoOn(_ end: JSONTokenEnd, in bytes: Span<UInt8>) -> Bool {
        let index = end.index
        let left = bytes.count - index
        switch end.fault {
        case .unterminatedString: return true
        case .invalidUTF8: return UTF8Sequence.isBeginning(in: bytes, at: index)
        case .badEscape:
            return left < 6 && bytes[index + 1] == UInt8(ascii: "u") && areDigits(in: bytes, from: index + 2)
        case .loneSurrogate:
            guard left < 12, let unit = hexUnit(in: bytes, from: index + 2), unit < 0xDC00 else { return false }
            // The second half of a pair is \uDC00 to \uDFFF.
            return (left < 7 || bytes[index + 6] == backslash) && (left < 8 || bytes[index + 7] == UInt8(ascii: "u"))
                && (left < 9 || bytes[index + 8] | 0x20 == 0x64)
                && (left < 10 || ASCII.hexValue(bytes[index + 9]) ?? 0 >= 0xC)
                && (left < 11 || areDigits(in: bytes, from: index + 10))
        default: return false
        }
    }

    private static func areDigits(in bytes: Span<UInt8>, from start: Int) -> Bool {
        for index in start..<bytes.count where !ASCII.isHexDigit(bytes[index]) { return false }
        return true
    }

    /// Whether the bytes up to the end could begin `true`, `false`, or `null`.
    static func mayBecomeLiteral(_ bytes: Span<UInt8>, from start: Int) -> Bool {
        for literal in ["true", "false", "null"] where bytes.count - start <= literal.utf8.count {
            var isBeginning = true
            for (index, byte) in zip(start..<bytes.count, literal.utf8) where bytes[index] != byte {
                isBeginning = false
            }
            if isBeginning { return true }
        }
        return false
    }
}

extension JSONGrammar {
    /// Scans a string, starting after its opening quote. The returned end is after the closing quote.
    ///
    /// The bytes must be UTF-8, and control characters must be escaped. Surrogates must come in pairs, because a Swift
    /// string can't contain half a pair. Use `unescaped(_:)` to get the string's content.
    @inlinable @inline(__always)
    public static func string(in bytes: Span<UInt8>, from start: Int) -> JSONTokenEnd {
        var index = start
        while bytes.count &- index >= 8 {
            let found = JSONWord.unusual(JSONWord.load(bytes, at: index))
            if found == 0 {
                index &+= 8
                continue
            }
            index &+= found.trailingZeroBitCount &>> 3
            return bytes[index] == quote ? JSONTokenEnd(index &+ 1) : unusualString(in: bytes, from: index)
        }
        return unusualString(in: bytes, from: index)
    }

    @usableFromInline @inline(never)
    static func unusualString(in bytes: Span<UInt8>, from start: Int) -> JSONTokenEnd {
        var index = start
        while index < bytes.count {
            let byte = bytes[index]
            if byte >= 0x80 {
                let length = UTF8Sequence.length(in: bytes, at: index)
                if length == 0 { return JSONTokenEnd(index, .invalidUTF8) }
                index += length
            } else if byte == quote {
                return JSONTokenEnd(index + 1)
            } else if byte == backslash {
                let end = escape(in: bytes, from: index)
                if end.fault != .none { return end }
                index = end.index
            } else if byte < 0x20 {
                return JSONTokenEnd(index, .controlCharacter)
            } else {
                index += 1
                while bytes.count &- index >= 8 {
                    let found = JSONWord.unusual(JSONWord.load(bytes, at: index))
                    index &+= found == 0 ? 8 : found.trailingZeroBitCount &>> 3
                    if found != 0 { break }
                }
            }
        }
        return JSONTokenEnd(index, .unterminatedString)
    }

    /// Scans an escape, starting at its backslash. A surrogate pair counts as one escape.
    public static func escape(in bytes: Span<UInt8>, from start: Int) -> JSONTokenEnd {
        let left = bytes.count - start
        guard left >= 2 else { return JSONTokenEnd(bytes.count, .unterminatedString) }
        let letter = bytes[start + 1]
        guard letter == UInt8(ascii: "u") else {
            return character(escapedAs: letter) == nil ? JSONTokenEnd(start, .badEscape) : JSONTokenEnd(start + 2)
        }
        guard let unit = hexUnit(in: bytes, from: start + 2) else { return JSONTokenEnd(start, .badEscape) }
        if unit & 0xF800 != 0xD800 { return JSONTokenEnd(start + 6) }
        guard unit < 0xDC00, left >= 12, bytes[start + 6] == backslash, bytes[start + 7] == UInt8(ascii: "u"),
            let low = hexUnit(in: bytes, from: start + 8), low & 0xFC00 == 0xDC00
        else { return JSONTokenEnd(start, .loneSurrogate) }
        return JSONTokenEnd(start + 12)
    }

    /// Returns the character that a backslash and a letter represent. Returns `nil` for `u` and for invalid letters.
    public static func character(escapedAs letter: UInt8) -> UInt8? {
        switch letter {
        case UInt8(ascii: "b"): 0x08
        case UInt8(ascii: "f"): 0x0C
        case UInt8(ascii: "n"): UInt8(ascii: "\n")
        case UInt8(ascii: "r"): UInt8(ascii: "\r")
        case UInt8(ascii: "t"): UInt8(ascii: "\t")
        case quote, backslash, UInt8(ascii: "/"): letter
        default: nil
        }
    }

    /// Returns the value of four hexadecimal digits, or `nil` if there are fewer.
    static func hexUnit(in bytes: Span<UInt8>, from start: Int) -> UInt32? {
        guard bytes.count - start >= 4 else { return nil }
        var unit: UInt32 = 0
        for index in start..<start + 4 {
            guard let digit = ASCII.hexValue(bytes[index]) else { return nil }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    /// Returns the index of the next quote, backslash, control character, or non-ASCII byte, or the end.
    @inlinable @inline(__always) public static func asciiEnd(in bytes: Span<UInt8>, from start: Int) -> Int {
        var index = start
        while bytes.count &- index >= 8 {
            let found = JSONWord.unusual(JSONWord.load(bytes, at: index))
            if found != 0 { return index &+ found.trailingZeroBitCount &>> 3 }
            index &+= 8
        }
        while index < bytes.count, isPlain(bytes[index]), bytes[index] < 0x80 { index &+= 1 }
        return index
    }

    /// Returns the index of the next quote, backslash, or control character, or the end. Doesn't check non-ASCII bytes.
    @inlinable public static func plainEnd(in bytes: Span<UInt8>, from start: Int) -> Int {
        var index = start
        while bytes.count &- index >= 8 {
            let found = JSONWord.delimiters(JSONWord.load(bytes, at: index), controls: true)
            if found != 0 { return index &+ found.trailingZeroBitCount &>> 3 }
            index &+= 8
        }
        while index < bytes.count, isPlain(bytes[index]) { index &+= 1 }
        return index
    }

    @inlinable @inline(__always) static func isPlain(_ byte: UInt8) -> Bool {
        byte != quote && byte != backslash && byte >= 0x20
    }

    /// Returns whether a string's content has escapes.
    @inlinable public static func hasEscapes(_ content: Span<UInt8>) -> Bool {
        var index = 0
        while content.count &- index >= 8 {
            if JSONWord.backslashes(JSONWord.load(content, at: index)) != 0 { return true }
            index &+= 8
        }
        while index < content.count {
            if content[index] == backslash { return true }
            index &+= 1
        }
        return false
    }

    /// Returns a string's UTF-8 content without escapes. Pass the bytes between its quotes.
    ///
    /// The result is exact for a string that ``string(in:from:)`` accepts. For any other string, the result ends at the
    /// first invalid escape.
    public static func unescaped(_ content: Span<UInt8>) -> [UInt8] {
        var result: [UInt8] = []
        // A character is never longer than its escape.
        result.reserveCapacity(content.count)
        var index = 0
        while index < content.count {
            var end = plainEnd(in: content, from: index)
            // Only an invalid string contains quotes and control characters. They're copied.
            while end < content.count, content[end] != backslash { end += 1 }
            for place in index..<end { result.append(content[place]) }
            index = end
            guard index < content.count else { break }
            guard let scalar = scalar(ofEscapeIn: content, from: &index) else { break }
            if scalar.isASCII {
                result.append(UInt8(truncatingIfNeeded: scalar.value))
            } else {
                result += UTF8.encode(scalar) ?? UTF8.encodedReplacementCharacter
            }
        }
        return result
    }

    /// Returns a string's UTF-8 content without escapes. See the overload for a span.
    public static func unescaped(_ content: ArraySlice<UInt8>) -> [UInt8] { unescaped(content.span) }

    /// Advances the index past the escape.
    static func scalar(ofEscapeIn bytes: Span<UInt8>, from index: inout Int) -> Unicode.Scalar? {
        guard bytes.count - index >= 2 else { return nil }
        let letter = bytes[index + 1]
        index += 2
        guard letter == UInt8(ascii: "u") else { return character(escapedAs: letter).map { Unicode.Scalar($0) } }
        guard var value = hexUnit(in: bytes, from: index) else { return nil }
        index += 4
        if value & 0xFC00 == 0xD800, bytes.count - index >= 6, let low = hexUnit(in: bytes, from: index + 2) {
            value = 0x10000 + (value & 0x3FF) << 10 + low & 0x3FF
            index += 6
        }
        return Unicode.Scalar(value)
    }
}
