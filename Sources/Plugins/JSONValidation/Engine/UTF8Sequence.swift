/// Well-formed UTF-8 beyond ASCII (Unicode, table 3-7; RFC 3629, section 4).
enum UTF8Sequence {
    /// The length in bytes of the sequence that starts here; 0 if it is not well-formed or not complete.
    @inline(__always) static func length(_ p: BytePointer, _ end: BytePointer) -> Int {
        let left = end - p
        switch p[0] {
        case 0xC2...0xDF: return left >= 2 && isTail(p[1]) ? 2 : 0
        case 0xE0...0xEF:
            guard left >= 3, isTail(p[1]), isTail(p[2]) else { return 0 }
            // Excludes overlong forms and surrogates.
            if p[0] == 0xE0 && p[1] < 0xA0 || p[0] == 0xED && p[1] > 0x9F { return 0 }
            return 3
        case 0xF0...0xF4:
            guard left >= 4, isTail(p[1]), isTail(p[2]), isTail(p[3]) else { return 0 }
            // Excludes overlong forms and values beyond U+10FFFF.
            if p[0] == 0xF0 && p[1] < 0x90 || p[0] == 0xF4 && p[1] > 0x8F { return 0 }
            return 4
        default: return 0
        }
    }

    @inline(__always) private static func isTail(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
}
