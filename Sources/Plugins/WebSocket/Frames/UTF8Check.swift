import ErrandSupport

/// Checks that bytes are UTF-8 as they come (RFC 3629), and fails at the first byte that cannot belong to it.
struct UTF8Check {
    /// The number of bytes that the present character still needs, and the bounds of the next of them.
    private var missing = 0
    private var lower: UInt8 = 0x80
    private var upper: UInt8 = 0xBF

    /// Whether no character is cut off.
    var isComplete: Bool { missing == 0 }

    /// False for a byte that is wrong where it stands.
    mutating func accept(_ bytes: Span<UInt8>) -> Bool {
        var index = 0
        while index < bytes.count {
            if missing == 0 {
                index = Self.asciiEnd(bytes, from: index)
                if index == bytes.count { return true }
                if bytes[index] >= 0x80, !begin(bytes[index]) { return false }
            } else {
                guard bytes[index] >= lower, bytes[index] <= upper else { return false }
                (lower, upper) = (0x80, 0xBF)
                missing -= 1
            }
            index += 1
        }
        return true
    }

    /// An index before which all bytes are ASCII, at most seven before the first that is not. Many bytes at a time, as
    /// most text is ASCII.
    private static func asciiEnd(_ bytes: Span<UInt8>, from start: Int) -> Int {
        func word(_ index: Int) -> UInt64 { bytes.littleEndian(at: index) }
        let high: UInt64 = 0x8080_8080_8080_8080
        var index = start
        while index + 32 <= bytes.count,
            (word(index) | word(index + 8) | word(index + 16) | word(index + 24)) & high == 0
        { index += 32 }
        while index + 8 <= bytes.count, word(index) & high == 0 { index += 8 }
        return index
    }

    private mutating func begin(_ byte: UInt8) -> Bool {
        (lower, upper) = (0x80, 0xBF)
        switch byte {
        case 0xC2...0xDF: missing = 1
        case 0xE0: (missing, lower) = (2, 0xA0)
        case 0xED: (missing, upper) = (2, 0x9F)
        case 0xE1...0xEF: missing = 2
        case 0xF0: (missing, lower) = (3, 0x90)
        case 0xF4: (missing, upper) = (3, 0x8F)
        case 0xF1...0xF3: missing = 3
        default: return false
        }
        return true
    }
}
