typealias BytePointer = UnsafePointer<UInt8>

/// Where a token ends, or the position and the fault of an invalid token.
struct Scan {
    var end: BytePointer
    var fault = SyntaxFault.none
}

/// The tokens of RFC 8259. Every function receives the end of the text, and never reads beyond it.
enum Lexer {
    static let quote: UInt8 = 0x22
    static let backslash: UInt8 = 0x5C
    static let comma: UInt8 = 0x2C
    static let colon: UInt8 = 0x3A
    static let openBrace: UInt8 = 0x7B
    static let closeBrace: UInt8 = 0x7D
    static let openBracket: UInt8 = 0x5B
    static let closeBracket: UInt8 = 0x5D

    @inline(__always) static func word(_ p: BytePointer) -> UInt64 {
        UInt64(littleEndian: UnsafeRawPointer(p).loadUnaligned(as: UInt64.self))
    }

    static func equal(_ a: BytePointer, _ b: BytePointer, count: Int) -> Bool {
        if count < 8 { return shortWord(a, count) == shortWord(b, count) }
        var place = 0
        while place + 8 <= count {
            if word(a + place) != word(b + place) { return false }
            place += 8
        }
        return word(a + (count - 8)) == word(b + (count - 8))
    }

    /// Fewer than eight bytes, the first one lowest.
    static func shortWord(_ p: BytePointer, _ count: Int) -> UInt64 {
        var word: UInt64 = 0
        for place in 0..<count { word |= UInt64(p[place]) << UInt64(8 * place) }
        return word
    }

    // MARK: White space (section 2)

    @inline(__always) static func skipSpace(_ p: BytePointer, _ end: BytePointer) -> BytePointer {
        p < end && p.pointee <= 0x20 ? skipSpaces(p, end) : p
    }

    @inline(never) static func skipSpaces(_ p: BytePointer, _ end: BytePointer) -> BytePointer {
        var p = p
        while p < end {
            // Indentation is often a multiple of eight bytes.
            while end - p >= 8, word(p) == 0x2020_2020_2020_2020 { p += 8 }
            guard p < end else { break }
            switch p.pointee {
            case 0x20, 0x0A, 0x0D, 0x09: p += 1
            default: return p
            }
        }
        return p
    }

    // MARK: Strings (section 7)

    /// A word with the high bit set for each byte that is a quote, a backslash, a control character or not ASCII. Only the
    /// lowest set bit is reliable, since a borrow propagates upwards.
    @inline(__always) private static func special(_ word: UInt64) -> UInt64 {
        let quotes = word ^ 0x2222_2222_2222_2222
        let slashes = word ^ 0x5C5C_5C5C_5C5C_5C5C
        let controls = (word &- 0x2020_2020_2020_2020) & ~word
        let found =
            controls | ((quotes &- 0x0101_0101_0101_0101) & ~quotes) | ((slashes &- 0x0101_0101_0101_0101) & ~slashes)
        return (found | word) & 0x8080_8080_8080_8080
    }

    /// From after the opening quote to after the closing one.
    @inline(__always) static func string(_ start: BytePointer, _ end: BytePointer) -> Scan {
        var p = start
        while end - p >= 8 {
            let found = special(word(p))
            if found == 0 {
                p += 8
                continue
            }
            p += found.trailingZeroBitCount >> 3
            return p.pointee == quote ? Scan(end: p + 1) : unusualString(p, end)
        }
        return unusualString(p, end)
    }

    @inline(never) private static func unusualString(_ start: BytePointer, _ end: BytePointer) -> Scan {
        var p = start
        while p < end {
            let byte = p.pointee
            if byte >= 0x80 {
                let length = UTF8Sequence.length(p, end)
                if length == 0 { return Scan(end: p, fault: .invalidUTF8) }
                p += length
            } else if byte == quote {
                return Scan(end: p + 1)
            } else if byte == backslash {
                let scan = escape(p, end)
                if scan.fault != .none { return scan }
                p = scan.end
            } else if byte < 0x20 {
                return Scan(end: p, fault: .controlCharacter)
            } else {
                p += 1
                while end - p >= 8 {
                    let found = special(word(p))
                    p += found == 0 ? 8 : found.trailingZeroBitCount >> 3
                    if found != 0 { break }
                }
            }
        }
        return Scan(end: p, fault: .unterminatedString)
    }

    /// An escape, from its backslash on. A lone surrogate is not a character, and cannot be part of a Swift string.
    private static func escape(_ p: BytePointer, _ end: BytePointer) -> Scan {
        guard end - p >= 2 else { return Scan(end: end, fault: .unterminatedString) }
        switch p[1] {
        case quote, backslash, 0x2F, 0x62, 0x66, 0x6E, 0x72, 0x74: return Scan(end: p + 2)
        case 0x75:
            guard let unit = hexUnit(p + 2, end) else { return Scan(end: p, fault: .badEscape) }
            if unit & 0xF800 != 0xD800 { return Scan(end: p + 6) }
            guard unit < 0xDC00, end - p >= 12, p[6] == backslash, p[7] == 0x75, let low = hexUnit(p + 8, end),
                low & 0xFC00 == 0xDC00
            else { return Scan(end: p, fault: .loneSurrogate) }
            return Scan(end: p + 12)
        default: return Scan(end: p, fault: .badEscape)
        }
    }

    static func hexUnit(_ p: BytePointer, _ end: BytePointer) -> UInt32? {
        guard end - p >= 4 else { return nil }
        var unit: UInt32 = 0
        for index in 0..<4 {
            let byte = p[index]
            switch byte {
            case 0x30...0x39: unit = unit << 4 | UInt32(byte - 0x30)
            case 0x41...0x46, 0x61...0x66: unit = unit << 4 | UInt32((byte | 0x20) - 0x57)
            default: return nil
            }
        }
        return unit
    }

    // MARK: Numbers (section 6)

    /// From the minus sign or the first digit to after the last digit.
    @inline(__always) static func number(_ start: BytePointer, _ end: BytePointer) -> (scan: Scan, isPlain: Bool) {
        var p = start
        if p.pointee == 0x2D { p += 1 }
        guard p < end else { return (Scan(end: p, fault: .badNumber), true) }
        if p.pointee == 0x30 {
            p += 1
            if p < end, isDigit(p.pointee) { return (Scan(end: p, fault: .leadingZero), true) }
        } else {
            guard isDigit(p.pointee) else { return (Scan(end: p, fault: .badNumber), true) }
            p = digits(p + 1, end)
        }
        guard p < end, p.pointee == 0x2E || p.pointee | 0x20 == 0x65 else { return (Scan(end: p), true) }
        return (fraction(p, end), false)
    }

    private static func fraction(_ start: BytePointer, _ end: BytePointer) -> Scan {
        var p = start
        if p.pointee == 0x2E {
            p += 1
            guard p < end, isDigit(p.pointee) else { return Scan(end: p, fault: .badNumber) }
            p = digits(p + 1, end)
        }
        if p < end, p.pointee | 0x20 == 0x65 {
            p += 1
            if p < end, p.pointee == 0x2B || p.pointee == 0x2D { p += 1 }
            guard p < end, isDigit(p.pointee) else { return Scan(end: p, fault: .badNumber) }
            p = digits(p + 1, end)
        }
        return Scan(end: p)
    }

    @inline(__always) private static func digits(_ start: BytePointer, _ end: BytePointer) -> BytePointer {
        var p = start
        while p < end, isDigit(p.pointee) { p += 1 }
        return p
    }

    @inline(__always) static func isDigit(_ byte: UInt8) -> Bool { byte &- 0x30 < 10 }

    // MARK: true, false, null (section 3)

    @inline(__always) static func literal(_ p: BytePointer, _ end: BytePointer) -> Scan {
        if end - p >= 4 {
            let four = UInt32(littleEndian: UnsafeRawPointer(p).loadUnaligned(as: UInt32.self))
            if four == 0x6575_7274 || four == 0x6C6C_756E { return Scan(end: p + 4) }
            if four == 0x736C_6166, end - p >= 5, p[4] == 0x65 { return Scan(end: p + 5) }
        }
        return Scan(end: p, fault: .badLiteral)
    }
}
