/// UTF-8 sequences of two to four bytes (Unicode, table 3-7, and RFC 3629, section 4).
enum UTF8Sequence {
    /// 0 if the sequence is ill-formed or incomplete.
    @inline(__always) static func length(in bytes: Span<UInt8>, at index: Int) -> Int {
        let left = bytes.count - index
        let first = bytes[index]
        switch first {
        case 0xC2...0xDF: return left >= 2 && isTail(bytes[index + 1]) ? 2 : 0
        case 0xE0...0xEF:
            guard left >= 3, isTail(bytes[index + 1]), isTail(bytes[index + 2]) else { return 0 }
            // Excludes overlong forms and surrogates.
            let second = bytes[index + 1]
            return first == 0xE0 && second < 0xA0 || first == 0xED && second > 0x9F ? 0 : 3
        case 0xF0...0xF4:
            guard left >= 4, isTail(bytes[index + 1]), isTail(bytes[index + 2]), isTail(bytes[index + 3]) else {
                return 0
            }
            // Excludes overlong forms and values beyond U+10FFFF.
            let second = bytes[index + 1]
            return first == 0xF0 && second < 0x90 || first == 0xF4 && second > 0x8F ? 0 : 4
        default: return 0
        }
    }

    /// Whether the bytes up to the end begin a sequence without completing it.
    static func isBeginning(in bytes: Span<UInt8>, at index: Int) -> Bool {
        let left = bytes.count - index
        guard left > 0, left < 4 else { return false }
        // If any byte can complete the sequence, one of these two can.
        for tail: UInt8 in [0x80, 0xBF] {
            var completed = ContiguousArray(repeating: tail, count: 4)
            for offset in 0..<left { completed[offset] = bytes[index + offset] }
            if length(in: completed.span, at: 0) > left { return true }
        }
        return false
    }

    @inline(__always) private static func isTail(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
}
