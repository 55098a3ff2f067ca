/// The classes of characters of XML 1.0 (sections 2.2 and 2.3), in bytes of valid UTF-8.
enum XMLCharacters {
    private static let plain: UInt8 = 1
    private static let nameStart: UInt8 = 2
    private static let name: UInt8 = 4
    private static let reference: UInt8 = 8
    private static let value: UInt8 = 16

    /// The classes of each byte; those of a character of several bytes are those of its first.
    private static let classes: [UInt8] = (0...255).map { byte in
        let byte = UInt8(byte)
        var classes: UInt8 = 0
        let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
        let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
        if byte >= 0x20 || byte == 0x09 || byte == 0x0A, !"<&]".utf8.contains(byte), byte != 0xEF { classes |= plain }
        if byte >= 0x20, byte != UInt8(ascii: "<"), byte != UInt8(ascii: "&"), byte != 0xEF { classes |= value }
        if isLetter || byte == UInt8(ascii: "_") || byte == UInt8(ascii: ":") { classes |= nameStart | name }
        if isDigit || byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") { classes |= name }
        if classes & name != 0 || byte == UInt8(ascii: "#") || byte >= 0x80 { classes |= reference }
        return classes
    }

    private static func has(_ wanted: UInt8, _ byte: UInt8) -> Bool { classes[Int(byte)] & wanted != 0 }

    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    /// Whether a byte is text that needs no look: no markup, no line end that is changed, nothing that may be forbidden.
    static func isPlain(_ byte: UInt8) -> Bool { has(plain, byte) }

    /// Whether a byte of an attribute's value needs no look.
    static func isPlainInValue(_ byte: UInt8) -> Bool { has(value, byte) }

    /// Whether a byte may be within a reference.
    static func isInReference(_ byte: UInt8) -> Bool { has(reference, byte) }

    /// Whether a character begins there that no document may have: a control character, U+FFFE or U+FFFF.
    static func isForbidden(_ part: XMLPart, _ index: Int) -> Bool {
        if part[index] < 0x20 { return !isSpace(part[index]) }
        return part[index] == 0xEF && index + 2 < part.count && part[index + 1] == 0xBF && part[index + 2] >= 0xBE
    }

    /// Whether a document may have a character, written as a reference.
    static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D, 0x20...0xFFFD, 0x1_0000...: true
        default: false
        }
    }

    /// Where the name that begins at an index ends; the index itself if there is none.
    static func endOfName(_ bytes: UnsafeBufferPointer<UInt8>, _ start: Int, _ end: Int) -> Int {
        var index = start
        while index < end {
            let byte = bytes[index]
            if byte < 0x80 {
                guard has(index == start ? nameStart : name, byte) else { return index }
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
    private static func scalar(_ bytes: UnsafeBufferPointer<UInt8>, _ index: Int, _ end: Int) -> (UInt32, Int) {
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
        return !bytes.isEmpty && bytes.withUnsafeBufferPointer { endOfName($0, 0, $0.count) == $0.count }
    }
}
