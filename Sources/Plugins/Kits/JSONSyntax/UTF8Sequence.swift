/// Well-formed UTF-8 beyond ASCII (Unicode, table 3-7; RFC 3629, section 4).
enum UTF8Sequence {
    /// The length in bytes of the sequence that starts here; 0 if it is not well-formed or not complete.
    @inline(__always) static func length(_ p: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Int {
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

    /// Whether the bytes to the end begin a sequence, and are not all of it.
    static func isBeginning(_ p: UnsafePointer<UInt8>, _ end: UnsafePointer<UInt8>) -> Bool {
        let left = end - p
        guard left > 0, left < 4 else { return false }
        // Any tail that the bytes allow completes them, if one does.
        return [0x80, 0xBF].contains { (tail: UInt8) in
            withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 4) { bytes in
                bytes.initialize(repeating: tail)
                for index in 0..<left { bytes[index] = p[index] }
                guard let base = bytes.baseAddress else { return false }
                return length(UnsafePointer(base), UnsafePointer(base) + 4) > left
            }
        }
    }

    @inline(__always) private static func isTail(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
}
