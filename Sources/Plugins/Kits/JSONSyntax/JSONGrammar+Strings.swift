import ErrandMessageSyntax

// Strings (RFC 8259, section 7).
extension JSONGrammar {
    /// A string, from behind its opening quote to behind its closing one.
    ///
    /// The bytes are UTF-8, control characters are escaped, and surrogates come in pairs: half of a pair is not a
    /// character, and cannot be part of a Swift string. The content is a ``JSONText``.
    @inlinable @inline(__always)
    public static func string(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> JSONScan {
        var p = start
        while end - p >= 8 {
            let found = JSONWord.unusual(JSONWord.load(p))
            if found == 0 {
                p += 8
                continue
            }
            p += found.trailingZeroBitCount >> 3
            return p.pointee == quote ? JSONScan(end: p + 1) : unusualString(p, end)
        }
        return unusualString(p, end)
    }

    @usableFromInline @inline(never)
    static func unusualString(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> JSONScan {
        var p = start
        while p < end {
            let byte = p.pointee
            if byte >= 0x80 {
                let length = UTF8Sequence.length(p, end)
                if length == 0 { return JSONScan(end: p, fault: .invalidUTF8) }
                p += length
            } else if byte == quote {
                return JSONScan(end: p + 1)
            } else if byte == backslash {
                let scan = escape(p, end)
                if scan.fault != .none { return scan }
                p = scan.end
            } else if byte < 0x20 {
                return JSONScan(end: p, fault: .controlCharacter)
            } else {
                p += 1
                while end - p >= 8 {
                    let found = JSONWord.unusual(JSONWord.load(p))
                    p += found == 0 ? 8 : found.trailingZeroBitCount >> 3
                    if found != 0 { break }
                }
            }
        }
        return JSONScan(end: p, fault: .unterminatedString)
    }

    /// An escape, from its backslash to behind its last character; both of a pair of surrogates.
    public static func escape(_ p: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> JSONScan {
        guard end - p >= 2 else { return JSONScan(end: end, fault: .unterminatedString) }
        guard p[1] == 0x75 else {
            return character(escapedAs: p[1]) == nil ? JSONScan(end: p, fault: .badEscape) : JSONScan(end: p + 2)
        }
        guard let unit = hexUnit(p + 2, end) else { return JSONScan(end: p, fault: .badEscape) }
        if unit & 0xF800 != 0xD800 { return JSONScan(end: p + 6) }
        guard unit < 0xDC00, end - p >= 12, p[6] == backslash, p[7] == 0x75, let low = hexUnit(p + 8, end),
            low & 0xFC00 == 0xDC00
        else { return JSONScan(end: p, fault: .loneSurrogate) }
        return JSONScan(end: p + 12)
    }

    /// The character that a letter behind a backslash stands for; nil for one that stands for none, and for `u`.
    public static func character(escapedAs letter: UInt8) -> UInt8? {
        switch letter {
        case 0x62: 0x08
        case 0x66: 0x0C
        case 0x6E: 0x0A
        case 0x72: 0x0D
        case 0x74: 0x09
        case quote, backslash, 0x2F: letter
        default: nil
        }
    }

    /// The value of four hexadecimal digits; nil for anything else, and before the end of the text.
    public static func hexUnit(_ p: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> UInt32? {
        guard end - p >= 4 else { return nil }
        var unit: UInt32 = 0
        for index in 0..<4 {
            guard let digit = ASCII.hexValue(p[index]) else { return nil }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    /// The next quote, backslash, control character or byte beyond ASCII, or the end.
    @inlinable @inline(__always)
    public static func asciiEnd(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
        var p = start
        while end - p >= 8 {
            let found = JSONWord.unusual(JSONWord.load(p))
            if found != 0 { return p + found.trailingZeroBitCount >> 3 }
            p += 8
        }
        while p < end, p.pointee != quote, p.pointee != backslash, p.pointee >= 0x20, p.pointee < 0x80 { p += 1 }
        return p
    }

    /// The next quote, backslash or control character, or the end; bytes beyond ASCII are not looked at.
    @inlinable
    public static func plainEnd(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> UnsafePointer<UInt8> {
        var p = start
        while end - p >= 8 {
            let found = JSONWord.delimiters(JSONWord.load(p), controls: true)
            if found != 0 { return p + found.trailingZeroBitCount >> 3 }
            p += 8
        }
        while p < end, p.pointee != quote, p.pointee != backslash, p.pointee >= 0x20 { p += 1 }
        return p
    }
}
