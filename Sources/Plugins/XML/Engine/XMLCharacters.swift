/// The classes of characters of XML 1.0 (sections 2.2 and 2.3), in bytes of valid UTF-8.
enum XMLCharacters {
    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    /// Whether a byte is text that needs no check: no markup, no line end that is changed, nothing that may be
    /// forbidden.
    static func isPlain(_ byte: UInt8) -> Bool {
        if byte < 0x20 { return byte == 0x09 || byte == 0x0A }
        return byte != UInt8(ascii: "<") && byte != UInt8(ascii: "&") && byte != UInt8(ascii: "]") && byte != 0xEF
    }

    /// Whether none of eight bytes needs a check; may be false where white space is among them.
    static func arePlain(_ word: UInt64) -> Bool {
        let (ones, high): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        /// A byte of zero leaves its highest bit.
        func zeros(_ word: UInt64) -> UInt64 { (word &- ones) & ~word }
        let marks =
            zeros(word ^ ones &* UInt64(UInt8(ascii: "<"))) | zeros(word ^ ones &* UInt64(UInt8(ascii: "&")))
            | zeros(word ^ ones &* UInt64(UInt8(ascii: "]"))) | zeros(word ^ ones &* 0xEF)
        let controls = (word &- ones &* 0x20) & ~word
        return (marks | controls) & high == 0
    }

    /// Whether a byte of an attribute's value needs no check.
    static func isPlainInValue(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != UInt8(ascii: "<") && byte != UInt8(ascii: "&") && byte != 0xEF
    }

    /// Whether a byte may occur within a reference.
    static func isInReference(_ byte: UInt8) -> Bool { byte >= 0x80 || byte == UInt8(ascii: "#") || isASCIIName(byte) }

    /// Whether an ASCII character may be within a name, a bit for each.
    private static func isASCIIName(_ byte: UInt8) -> Bool {
        byte < 0x40 ? (0x07FF_6000_0000_0000 as UInt64) >> UInt64(byte) & 1 != 0 : isASCIINameStart(byte)
    }

    /// Whether an ASCII character may begin a name: a letter, `_` or `:`.
    private static func isASCIINameStart(_ byte: UInt8) -> Bool {
        if byte < 0x40 { return byte == UInt8(ascii: ":") }
        return (0x07FF_FFFE_87FF_FFFE as UInt64) >> UInt64(byte & 0x3F) & 1 != 0
    }

    /// Whether a character begins at an index that no document may contain: a control character, U+FFFE or U+FFFF.
    static func isForbidden(_ part: XMLPart, _ index: Int) -> Bool {
        if part[index] < 0x20 { return !isSpace(part[index]) }
        return part[index] == 0xEF && index + 2 < part.count && part[index + 1] == 0xBF && part[index + 2] >= 0xBE
    }

    /// Whether a document may contain a character, written as a reference.
    static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D, 0x20...0xFFFD, 0x1_0000...: true
        default: false
        }
    }

    /// The end of the name that begins at an index; the index itself if there is none.
    static func endOfName(_ bytes: [UInt8], _ start: Int, _ end: Int) -> Int {
        var index = start
        while index < end {
            let byte = bytes[index]
            if byte < 0x80 {
                guard index == start ? isASCIINameStart(byte) : isASCIIName(byte) else { return index }
                index += 1
                continue
            }
            let (scalar, width) = scalar(bytes, index, end)
            guard isName(scalar, isStart: index == start) else { return index }
            index += width
        }
        return index
    }

    /// The character that begins at an index, of valid UTF-8 that is not ASCII.
    private static func scalar(_ bytes: [UInt8], _ index: Int, _ end: Int) -> (UInt32, Int) {
        let first = UInt32(bytes[index])
        let width = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2
        guard index + width <= end else { return (0, 1) }
        var value = first & (0xFF >> UInt32(width + 1))
        for offset in 1..<width { value = value << 6 | UInt32(bytes[index + offset] & 0x3F) }
        return (value, width)
    }

    private static func isName(_ scalar: UInt32, isStart: Bool) -> Bool {
        switch scalar {
        case 0xC0...0xD6, 0xD8...0xF6, 0xF8...0x2FF, 0x370...0x37D, 0x37F...0x1FFF, 0x200C...0x200D, 0x2070...0x218F,
            0x2C00...0x2FEF, 0x3001...0xD7FF, 0xF900...0xFDCF, 0xFDF0...0xFFFD, 0x1_0000...0xE_FFFF:
            true
        case 0xB7, 0x300...0x36F, 0x203F...0x2040: !isStart
        default: false
        }
    }

    /// Whether some bytes are a name.
    static func isName(_ bytes: some Collection<UInt8>) -> Bool {
        let bytes = Array(bytes)
        return !bytes.isEmpty && endOfName(bytes, 0, bytes.count) == bytes.count
    }
}
