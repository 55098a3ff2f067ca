import ErrandMessageSyntax

// Whether what is wrong at the end of an input would be right if the input went on.
extension JSONGrammar {
    /// Whether more bytes can make the string valid in which a scan met its fault.
    static func mayGoOn(_ scan: JSONScan, _ end: UnsafePointer<UInt8>) -> Bool {
        let (p, left) = (scan.end, end - scan.end)
        switch scan.fault {
        case .unterminatedString: return true
        case .invalidUTF8: return UTF8Sequence.isBeginning(p, end)
        case .badEscape: return left < 6 && p[1] == 0x75 && areDigits(p + 2, end)
        case .loneSurrogate:
            guard left < 12, let unit = hexUnit(p + 2, end), unit < 0xDC00 else { return false }
            // The low half: \uDC00 to \uDFFF.
            return (left < 7 || p[6] == backslash) && (left < 8 || p[7] == 0x75) && (left < 9 || p[8] | 0x20 == 0x64)
                && (left < 10 || ASCII.hexValue(p[9]) ?? 0 >= 0xC) && (left < 11 || areDigits(p + 10, end))
        default: return false
        }
    }

    private static func areDigits(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Bool {
        UnsafeBufferPointer(start: start, count: end - start).allSatisfy(ASCII.isHexDigit)
    }

    /// Whether the bytes are `true`, `false` or `null`, or begin like one of them.
    static func mayBecomeLiteral(_ start: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Bool {
        let word = UnsafeBufferPointer(start: start, count: end - start)
        let literals: [StaticString] = ["true", "false", "null"]
        return literals.contains { literal in
            literal.withUTF8Buffer { $0.starts(with: word) }
        }
    }
}
