import ErrandMessageSyntax

// Whether what is wrong at the end of an input would be right if the input went on.
extension JSONGrammar {
    /// Whether more bytes can make the string valid in which a scan met its fault.
    static func mayGoOn(_ end: JSONTokenEnd, in bytes: Span<UInt8>) -> Bool {
        let index = end.index
        let left = bytes.count - index
        switch end.fault {
        case .unterminatedString: return true
        case .invalidUTF8: return UTF8Sequence.isBeginning(in: bytes, at: index)
        case .badEscape: return left < 6 && bytes[index + 1] == 0x75 && areDigits(in: bytes, from: index + 2)
        case .loneSurrogate:
            guard left < 12, let unit = hexUnit(in: bytes, from: index + 2), unit < 0xDC00 else { return false }
            // The low half: \uDC00 to \uDFFF.
            return (left < 7 || bytes[index + 6] == backslash) && (left < 8 || bytes[index + 7] == 0x75)
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

    /// Whether the bytes from an index on are `true`, `false` or `null`, or begin like one of them.
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
