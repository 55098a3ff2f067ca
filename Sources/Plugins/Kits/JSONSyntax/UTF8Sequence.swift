/// Well-formed UTF-8 beyond ASCII (Unicode, table 3-7; RFC 3629, section 4).
enum UTF8Sequence {
    /// Returns the length in bytes of the sequence at an index, or 0 if it's ill-formed or incomplete.
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

    /// Returns whether the bytes from an index to the end are the beginning of an incomplete sequence.
    static func isBeginning(in bytes: Span<UInt8>, at index: Int) -> Bool {
        let left = bytes.count - index
        guard left > 0, left < 4 else { return false }
        // If any tail completes the sequence, so does one of these two.
        for tail: UInt8 in [0x80, 0xBF] {
            var completed = [UInt8](repeating: tail, count: 4)
            for offset in 0..<left { completed[offset] = bytes[index + offset] }
            if length(in: completed.span, at: 0) > left { return true }
        }
        return false
    }

    @inline(__always) private static func isTail(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
}
