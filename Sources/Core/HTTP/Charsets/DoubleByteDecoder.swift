import ErrandEssentials

/// Decodes Chinese, Japanese and Korean charsets (WHATWG Encoding, sections 10 to 13). If the standard would insert
/// U+FFFD for an error, the decoder rejects the whole text.
struct DoubleByteDecoder {
    private let bytes: [UInt8]
    private var position = 0
    private var output: ScalarText

    init(_ bytes: Data) {
        self.bytes = Array(bytes)
        output = ScalarText(capacity: bytes.count + bytes.count / 2)
    }

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

    private mutating func next(in ranges: ClosedRange<UInt8>...) -> Int? {
        guard let byte = next(), ranges.contains(where: { $0.contains(byte) }) else { return nil }
        return Int(byte)
    }

    // MARK: Stateless charsets

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
        // Four characters of Big5 consist of two Unicode scalars each.
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
            // User-defined characters map to Unicode's private use area.
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

    /// Decodes ISO-2022-JP, in which an escape sequence changes how the following bytes are read. Two escape sequences
    /// in a row are an error.
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

/// A double-byte charset's characters by pointer (WHATWG Encoding, section 6), from the system's tables, with
/// corrections.
struct CharsetIndex: Sendable {
    /// The characters. Zero marks a missing character.
    let scalars: [UInt32]

    subscript(pointer: Int) -> UInt32 { scalars.indices.contains(pointer) ? scalars[pointer] : 0 }

    /// JIS X 0208 with NEC's and IBM's extensions.
    static let jis0208 = CharsetIndex(system: "CP932", count: 11_280, corrections: jisCorrections) { pointer in
        let (lead, trail) = (pointer / 188, pointer % 188)
        return [UInt8(lead + (lead < 0x1F ? 0x81 : 0xC1)), UInt8(trail + (trail < 0x3F ? 0x40 : 0x41))]
    }

    static let jis0212 = CharsetIndex(system: "EUC-JP", count: 8_836) { pointer in
        [0x8F, UInt8(pointer / 94 + 0xA1), UInt8(pointer % 94 + 0xA1)]
    }

    /// Hangul and Hanja of Unified Hangul Code.
    static let eucKR = CharsetIndex(system: "CP949", count: 23_940) { pointer in
        [UInt8(pointer / 190 + 0x81), UInt8(pointer % 190 + 0x41)]
    }

    /// Big5 with the Hong Kong characters.
    static let big5 = CharsetIndex(system: "BIG5-HKSCS", count: 19_782, corrections: big5Corrections) { pointer in
        let trail = pointer % 157
        return [UInt8(pointer / 157 + 0x81), UInt8(trail + (trail < 0x3F ? 0x40 : 0x62))]
    }

    /// GBK, and the two-byte characters of GB 18030.
    static let gb18030 = CharsetIndex(system: "GB18030", count: 23_940, corrections: gb18030Corrections) { pointer in
        let trail = pointer % 190
        return [UInt8(pointer / 190 + 0x81), UInt8(trail + (trail < 0x3F ? 0x40 : 0x41))]
    }

    /// The four-byte characters of GB 18030 within the basic plane: in order, all characters without a two-byte form in
    /// GB 18030-2000. `nil` if the system's table isn't complete.
    static let gb18030Ranges: [UInt32]? = {
        guard let index = gb18030 else { return nil }
        var taken = Set(index.scalars)
        for (scalar, former) in gb18030Changes {
            taken.remove(scalar)
            taken.insert(former)
        }
        var rest = (0x80...0xFFFF as ClosedRange<UInt32>).filter {
            !(0xD800...0xDFFF).contains($0) && !taken.contains($0)
        }
        guard rest.count == 39_420 else { return nil }
        // The standard makes an exception to this order for a single pointer.
        rest[7_457] = 0xE7C7
        return rest
    }()

    private init?(
        system name: String, count: Int, corrections: [Int: UInt32] = [:], bytes: (_ pointer: Int) -> [UInt8]
    ) {
        guard let charset = SystemCharset(name) else { return nil }
        scalars = (0..<count).map { pointer in
            let bytes = bytes(pointer)
            return corrections[bytes.reduce(0) { $0 << 8 | Int($1) }] ?? charset.scalar(bytes)
        }
    }

    /// Corrections by a character's bytes. JIS X 0208 tables without the Windows additions map these characters
    /// differently.
    private static let jisCorrections: [Int: UInt32] = [
        0x815C: 0x2015, 0x815F: 0xFF3C, 0x8160: 0xFF5E, 0x8161: 0x2225, 0x817C: 0xFF0D, 0x8191: 0xFFE0,
        0x8192: 0xFFE1, 0x81CA: 0xFFE2,
    ]

    /// Corrections by a character's bytes. They undo changes in GB 18030-2005 and 2022 that the WHATWG standard didn't
    /// adopt, apply changes that it did adopt, and add a space.
    private static let gb18030Corrections: [Int: UInt32] = [
        0xA3A0: 0x3000, 0xA6D9: 0xFE10, 0xA6DA: 0xFE12, 0xA6DB: 0xFE11, 0xA6DC: 0xFE13, 0xA6DD: 0xFE14,
        0xA6DE: 0xFE15, 0xA6DF: 0xFE16, 0xA6EC: 0xFE17, 0xA6ED: 0xFE18, 0xA6F3: 0xFE19, 0xA8BC: 0x1E3F,
        0xFE51: 0xE816, 0xFE52: 0xE817, 0xFE53: 0xE818, 0xFE59: 0x9FB4, 0xFE61: 0x9FB5, 0xFE66: 0x9FB6,
        0xFE67: 0x9FB7, 0xFE6C: 0xE831, 0xFE6D: 0x9FB8, 0xFE76: 0xE83B, 0xFE7E: 0x9FB9, 0xFE90: 0x9FBA,
        0xFE91: 0xE855, 0xFEA0: 0x9FBB,
    ]

    /// Characters that got a two-byte form after GB 18030-2000, each with the character that had these two bytes
    /// before.
    private static let gb18030Changes: [(UInt32, former: UInt32)] = [
        (0x1E3F, 0xE7C7), (0xFE10, 0xE78D), (0xFE12, 0xE78E), (0xFE11, 0xE78F), (0xFE13, 0xE790), (0xFE14, 0xE791),
        (0xFE15, 0xE792), (0xFE16, 0xE793), (0xFE17, 0xE794), (0xFE18, 0xE795), (0xFE19, 0xE796), (0x9FB4, 0xE81E),
        (0x9FB5, 0xE826), (0x9FB6, 0xE82B), (0x9FB7, 0xE82C), (0x9FB8, 0xE832), (0x9FB9, 0xE843), (0x9FBA, 0xE854),
        (0x9FBB, 0xE864), (0, 0xE5E5),
    ]

    /// Corrections by a character's bytes. They restore characters that the C library's HKSCS-2008 dropped or maps
    /// differently, and add the symbols for control characters from 0xA3C0.
    private static let big5Corrections: [Int: UInt32] = {
        var corrections = big5Differences
        for offset in 0..<0x20 { corrections[0xA3C0 + offset] = UInt32(0x2400 + offset) }
        corrections[0xA3E0] = 0x2421
        return corrections
    }()

    private static let big5Differences: [Int: UInt32] = [
        0x8E69: 0x7BB8, 0x8E6F: 0x7C06, 0x8E7E: 0x7CCE, 0x8EAB: 0x7DD2, 0x8EB4: 0x7E1D, 0x8ECD: 0x8005,
        0x8ED0: 0x8028, 0x8F57: 0x83C1, 0x8F69: 0x84A8, 0x8F6E: 0x840F, 0x8FCB: 0x89A6, 0x8FCC: 0x89A9,
        0x8FFE: 0x8D77, 0x906D: 0x90FD, 0x907A: 0x92B9, 0x90DC: 0x975C, 0x90F1: 0x97FF, 0x91BF: 0x9F16,
        0x9244: 0x8503, 0x92AF: 0x5159, 0x92B0: 0x515B, 0x92B1: 0x515D, 0x92B2: 0x515E, 0x92C8: 0x936E,
        0x92D1: 0x7479, 0x9447: 0x6D67, 0x94CA: 0x799B, 0x95D9: 0x9097, 0x9644: 0x975D, 0x96ED: 0x701E,
        0x96FC: 0x5B28, 0x9B76: 0x7201, 0x9B78: 0x77D7, 0x9B7B: 0x7E87, 0x9BC6: 0x99D6, 0x9BDE: 0x91D4,
        0x9BEC: 0x60DE, 0x9BF6: 0x6FB6, 0x9C42: 0x8F36, 0x9C53: 0x4FBB, 0x9C62: 0x71DF, 0x9C68: 0x9104,
        0x9C6B: 0x9DF0, 0x9C77: 0x83CF, 0x9CBC: 0x5C10, 0x9CBD: 0x79E3, 0x9CD0: 0x5A67, 0x9D57: 0x8F0B,
        0x9D5A: 0x7B51, 0x9DC4: 0x62D0, 0x9EA9: 0x6062, 0x9EEF: 0x75F9, 0x9EFD: 0x6C4A, 0x9F60: 0x9B2E,
        0x9F66: 0x9F17, 0x9FCB: 0x50ED, 0x9FD8: 0x5F0C, 0xA063: 0x880F, 0xA077: 0x62CE, 0xA0D5: 0x7468,
        0xA0DF: 0x7162, 0xA0E4: 0x7250, 0xA145: 0x2027, 0xA14E: 0xFE51, 0xA15A: 0x2574, 0xA1C2: 0x00AF,
        0xA1C3: 0xFFE3, 0xA1C5: 0x02CD, 0xA1E3: 0xFF5E, 0xA1F2: 0x2295, 0xA1F3: 0x2299, 0xA1FE: 0xFF0F,
        0xA240: 0xFF3C, 0xA241: 0x2215, 0xA242: 0xFE68, 0xA244: 0xFFE5, 0xA246: 0xFFE0, 0xA247: 0xFFE1,
        0xA2CC: 0x5341, 0xA2CE: 0x5345, 0xA3E1: 0x20AC, 0xC6CF: 0x5EF4, 0xC6D3: 0x65E0, 0xC6D5: 0x7676,
        0xC6D7: 0x96B6, 0xC6DE: 0x3003, 0xC6DF: 0x4EDD, 0xFA5F: 0x5029, 0xFA66: 0x507D, 0xFABD: 0x5305,
        0xFAC5: 0x5344, 0xFAD5: 0x537F, 0xFB48: 0x5605, 0xFBB8: 0x5A77, 0xFBF3: 0x5E75, 0xFBF9: 0x5ED0,
        0xFC4F: 0x5F58, 0xFC6C: 0x60A4, 0xFCB9: 0x6490, 0xFCE2: 0x6674, 0xFCF1: 0x675E, 0xFDB7: 0x6C9C,
        0xFDB8: 0x6E1D, 0xFDBB: 0x6E2F, 0xFDF1: 0x716E, 0xFE52: 0x732A, 0xFE6F: 0x745C, 0xFEAA: 0x74E9,
        0xFEDD: 0x7809,
    ]
}
