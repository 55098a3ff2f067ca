import ErrandEssentials

/// Takes apart bytes of the charsets of China, Japan and Korea, as the decoders of the standard do (WHATWG Encoding,
/// sections 10 to 13). Bytes that the standard replaces with U+FFFD end it: the text is then invalid.
struct DoubleByteDecoder {
    private let bytes: [UInt8]
    private var position = 0
    private var output: ScalarText

    init(_ bytes: Data) {
        self.bytes = Array(bytes)
        output = ScalarText(capacity: bytes.count + bytes.count / 2)
    }

    /// Whether the system has the characters of a charset.
    static func isAvailable(_ name: String) -> Bool {
        switch name {
        case "gbk", "gb18030": CharsetIndex.gb18030 != nil
        case "big5": CharsetIndex.big5 != nil
        case "euc-jp": CharsetIndex.jis0208 != nil && CharsetIndex.jis0212 != nil
        case "iso-2022-jp", "shift_jis": CharsetIndex.jis0208 != nil
        case "euc-kr": CharsetIndex.eucKR != nil
        default: true
        }
    }

    /// Nil for bytes that aren't valid.
    mutating func text(_ name: String) -> String? {
        if name == "iso-2022-jp" { return iso2022JP() ? output.string : nil }
        while let byte = next() {
            if byte < 0x80 {
                output.append(ascii: byte)
                continue
            }
            let isValid =
                switch name {
                case "gbk", "gb18030": gb18030(byte)
                case "big5": big5(byte)
                case "euc-jp": eucJP(byte)
                case "shift_jis": shiftJIS(byte)
                case "euc-kr": eucKR(byte)
                default: false
                }
            if !isValid { return nil }
        }
        return output.string
    }

    private mutating func next() -> UInt8? {
        guard position < bytes.count else { return nil }
        position += 1
        return bytes[position - 1]
    }

    /// The next byte, if it is within one of the ranges.
    private mutating func next(in ranges: ClosedRange<UInt8>...) -> Int? {
        guard let byte = next(), ranges.contains(where: { $0.contains(byte) }) else { return nil }
        return Int(byte)
    }

    // MARK: Charsets without a state

    private mutating func gb18030(_ lead: UInt8) -> Bool {
        if lead == 0x80 { return output.append(0x20AC) }
        guard lead != 0xFF, let second = next(in: 0x30...0x39, 0x40...0x7E, 0x80...0xFE) else { return false }
        let row = Int(lead) - 0x81
        if second >= 0x40 {
            return output.append(CharsetIndex.gb18030?[row * 190 + second - (second < 0x7F ? 0x40 : 0x41)] ?? 0)
        }
        guard let third = next(in: 0x81...0xFE), let fourth = next(in: 0x30...0x39) else { return false }
        let pointer = row * 12_600 + (second - 0x30) * 1_260 + (third - 0x81) * 10 + fourth - 0x30
        switch pointer {
        case ..<39_420: return output.append(CharsetIndex.gb18030Ranges?[pointer] ?? 0)
        case 189_000...1_237_575: return output.append(UInt32(pointer - 189_000 + 0x10000))
        default: return false
        }
    }

    private mutating func big5(_ lead: UInt8) -> Bool {
        guard (0x81...0xFE).contains(lead), let trail = next(in: 0x40...0x7E, 0xA1...0xFE) else { return false }
        let pointer = (Int(lead) - 0x81) * 157 + trail - (trail < 0x7F ? 0x40 : 0x62)
        switch pointer {
        // The four characters of two scalars.
        case 1_133: return output.append(0xCA) && output.append(0x304)
        case 1_135: return output.append(0xCA) && output.append(0x30C)
        case 1_164: return output.append(0xEA) && output.append(0x304)
        case 1_166: return output.append(0xEA) && output.append(0x30C)
        default: return output.append(CharsetIndex.big5?[pointer] ?? 0)
        }
    }

    private mutating func eucJP(_ lead: UInt8) -> Bool {
        switch lead {
        case 0x8E: return next(in: 0xA1...0xDF).map { output.append(UInt32(0xFF61 - 0xA1 + $0)) } ?? false
        case 0x8F:
            guard let row = next(in: 0xA1...0xFE), let cell = next(in: 0xA1...0xFE) else { return false }
            return output.append(CharsetIndex.jis0212?[(row - 0xA1) * 94 + cell - 0xA1] ?? 0)
        case 0xA1...0xFE:
            guard let cell = next(in: 0xA1...0xFE) else { return false }
            return output.append(CharsetIndex.jis0208?[(Int(lead) - 0xA1) * 94 + cell - 0xA1] ?? 0)
        default: return false
        }
    }

    private mutating func shiftJIS(_ lead: UInt8) -> Bool {
        switch lead {
        case 0x80: return output.append(0x80)
        case 0xA1...0xDF: return output.append(0xFF61 - 0xA1 + UInt32(lead))
        case 0x81...0x9F, 0xE0...0xFC:
            guard let trail = next(in: 0x40...0x7E, 0x80...0xFC) else { return false }
            let row = Int(lead) - (lead < 0xA0 ? 0x81 : 0xC1)
            let pointer = row * 188 + trail - (trail < 0x7F ? 0x40 : 0x41)
            // Characters of the user.
            if (8_836...10_715).contains(pointer) { return output.append(UInt32(0xE000 - 8_836 + pointer)) }
            return output.append(CharsetIndex.jis0208?[pointer] ?? 0)
        default: return false
        }
    }

    private mutating func eucKR(_ lead: UInt8) -> Bool {
        guard (0x81...0xFE).contains(lead), let trail = next(in: 0x41...0xFE) else { return false }
        return output.append(CharsetIndex.eucKR?[(Int(lead) - 0x81) * 190 + trail - 0x41] ?? 0)
    }

    // MARK: ISO-2022-JP

    private enum Shift { case ascii, roman, katakana, jis0208 }

    /// Escape sequences change what the bytes behind them are. Two of them with no character between are an error.
    private mutating func iso2022JP() -> Bool {
        var (shift, isFresh) = (Shift.ascii, false)
        while let byte = next() {
            if byte == 0x1B {
                guard let escaped = escape(), !isFresh else { return false }
                (shift, isFresh) = (escaped, true)
                continue
            }
            isFresh = false
            let isValid: Bool
            switch (shift, byte) {
            case (.ascii, 0x0E), (.ascii, 0x0F), (.roman, 0x0E), (.roman, 0x0F), (_, 0x80...): return false
            case (.roman, 0x5C): isValid = output.append(0xA5)
            case (.roman, 0x7E): isValid = output.append(0x203E)
            case (.ascii, _), (.roman, _):
                output.append(ascii: byte)
                isValid = true
            case (.katakana, 0x21...0x5F): isValid = output.append(0xFF61 - 0x21 + UInt32(byte))
            case (.jis0208, 0x21...0x7E):
                guard let cell = next(in: 0x21...0x7E) else { return false }
                isValid = output.append(CharsetIndex.jis0208?[(Int(byte) - 0x21) * 94 + cell - 0x21] ?? 0)
            default: return false
            }
            if !isValid { return false }
        }
        return true
    }

    private mutating func escape() -> Shift? {
        switch (next(), next()) {
        case (0x28, 0x42): .ascii
        case (0x28, 0x4A): .roman
        case (0x28, 0x49): .katakana
        case (0x24, 0x40), (0x24, 0x42): .jis0208
        default: nil
        }
    }
}
