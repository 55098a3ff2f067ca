/// The character classes of XML 1.0 (sections 2.2 and 2.3), for bytes of valid UTF-8.
enum XMLCharacters {
    static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    /// Markup, line ends to normalize, and bytes of possibly forbidden characters need a check.
    static func isPlain(_ byte: UInt8) -> Bool {
        if byte < 0x20 { return byte == 0x09 || byte == 0x0A }
        return byte != UInt8(ascii: "<") && byte != UInt8(ascii: "&") && byte != UInt8(ascii: "]") && byte != 0xEF
    }

    /// May return `false` for whitespace.
    static func arePlain(_ word: UInt64) -> Bool {
        let (ones, high): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        /// Sets the high bit of zero bytes.
        func zeros(_ word: UInt64) -> UInt64 { (word &- ones) & ~word }
        let marks =
            zeros(word ^ ones &* UInt64(UInt8(ascii: "<"))) | zeros(word ^ ones &* UInt64(UInt8(ascii: "&")))
            | zeros(word ^ ones &* UInt64(UInt8(ascii: "]"))) | zeros(word ^ ones &* 0xEF)
        let controls = (word &- ones &* 0x20) & ~word
        return (marks | controls) & high == 0
    }

    static func isPlainInValue(_ byte: UInt8) -> Bool {
        byte >= 0x20 && byte != UInt8(ascii: "<") && byte != UInt8(ascii: "&") && byte != 0xEF
    }

    static func isInReference(_ byte: UInt8) -> Bool { byte >= 0x80 || byte == UInt8(ascii: "#") || isASCIIName(byte) }

    /// One bit per character.
    private static func isASCIIName(_ byte: UInt8) -> Bool {
        byte < 0x40 ? (0x07FF_6000_0000_0000 as UInt64) >> UInt64(byte) & 1 != 0 : isASCIINameStart(byte)
    }

    private static func isASCIINameStart(_ byte: UInt8) -> Bool {
        if byte < 0x40 { return byte == UInt8(ascii: ":") }
        return (0x07FF_FFFE_87FF_FFFE as UInt64) >> UInt64(byte & 0x3F) & 1 != 0
    }

    /// Control characters, U+FFFE and U+FFFF are forbidden.
    static func isForbidden(_ part: XMLPart, _ index: Int) -> Bool {
        if part[index] < 0x20 { return !isSpace(part[index]) }
        return part[index] == 0xEF && index + 2 < part.count && part[index + 1] == 0xBF && part[index + 2] >= 0xBE
    }

    /// For character references.
    static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0x09, 0x0A, 0x0D, 0x20...0xFFFD, 0x1_0000...: true
        default: false
        }
    }

    /// Returns `start` if no name begins there.
    static func endOfName(_ bytes: [UInt8], from start: Int, to end: Int) -> Int {
        var index = start
        while index < end {
            let byte = bytes[index]
            if byte < 0x80 {
                guard index == start ? isASCIINameStart(byte) : isASCIIName(byte) else { return index }
                index += 1
                continue
            }
            let (scalar, width) = scalar(bytes, at: index, to: end)
            guard isName(scalar, isStart: index == start) else { return index }
            index += width
        }
        return index
    }

    /// The bytes must be valid UTF-8 beyond ASCII.
    private static func scalar(_ bytes: [UInt8], at index: Int, to end: Int) -> (UInt32, Int) {
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

    static func isName(_ bytes: some Collection<UInt8>) -> Bool {
        let bytes = Array(bytes)
        return !bytes.isEmpty && endOfName(bytes, from: 0, to: bytes.count) == bytes.count
    }
}

/// A document type declaration without an internal subset (XML 1.0, sections 2.8 and 4.2.2).
struct DocumentType {
    let isExternal: Bool

    private enum Token: Equatable {
        case word([UInt8])
        case literal([UInt8])
    }

    /// The bytes are between `<!DOCTYPE` and `>`. Returns `nil` if they're malformed.
    init?(_ bytes: ArraySlice<UInt8>) {
        guard let tokens = Self.tokens(bytes), case .word(let name)? = tokens.first, XMLCharacters.isName(name) else {
            return nil
        }
        switch (tokens.count, tokens.dropFirst().first, tokens.dropFirst(2).first, tokens.dropFirst(3).first) {
        case (1, _, _, _): isExternal = false
        case (3, .word(Self.system), .literal, _): isExternal = true
        case (4, .word(Self.public), .literal(let identifier), .literal):
            guard identifier.allSatisfy(Self.publicCharacters.contains) else { return nil }
            isExternal = true
        default: return nil
        }
    }

    private static let system = Array("SYSTEM".utf8)
    private static let `public` = Array("PUBLIC".utf8)
    /// PubidChar (section 2.3).
    private static let publicCharacters = Set(
        " \r\nabcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-'()+,./:=?;!*#@$_%".utf8)

    /// Returns `nil` unless whitespace precedes each word and literal.
    private static func tokens(_ bytes: ArraySlice<UInt8>) -> [Token]? {
        var (tokens, rest) = ([Token](), bytes)
        while true {
            let next = rest.drop(while: XMLCharacters.isSpace)
            guard let first = next.first else { return tokens }
            guard next.count < rest.count, tokens.count < 4 else { return nil }
            if first == UInt8(ascii: "\"") || first == UInt8(ascii: "'") {
                guard let end = next.dropFirst().firstIndex(of: first) else { return nil }
                tokens.append(.literal(Array(next.dropFirst()[..<end])))
                rest = next[(end + 1)...]
            } else {
                let word = next.prefix { byte in
                    !XMLCharacters.isSpace(byte) && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "'")
                }
                tokens.append(.word(Array(word)))
                rest = rest[word.endIndex...]
            }
        }
    }
}
