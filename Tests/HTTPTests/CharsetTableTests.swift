import ErrandEssentials
import Testing

@testable import ErrandHTTP

/// Compares every byte, every byte pair of double-byte charsets, and longer sequences with checksums over the
/// standard's own tables. The tables are those of encoding_rs, plus the 18 characters that the standard changed
/// since.
@Suite("Tables of charsets", .leakChecked) struct CharsetTableTests {
    @Test("every byte and every pair of bytes is read as the standard defines", arguments: CharsetTableTests.sums)
    func pairs(name: String, expected: UInt64) throws {
        let charset = try #require(Charset(label: name))
        var sum = Sum()
        for a in UInt8.min...UInt8.max { sum.add([a], charset) }
        let (high, text) = (UInt8(0x80)...0xFF, UInt8(0x20)...0x7F)
        switch name {
        case "gbk", "gb18030", "big5", "euc-jp", "shift_jis", "euc-kr":
            for a in high { for b in UInt8.min...UInt8.max { sum.add([a, b], charset) } }
            if name == "euc-jp" { for a in high { for b in high { sum.add([0x8F, a, b], charset) } } }
            for a: UInt8 in name == "gb18030" ? [0x81, 0x84, 0x90, 0xE3] : [] {
                for b: UInt8 in 0x30...0x39 {
                    for c: UInt8 in 0x81...0xFE { for d: UInt8 in 0x30...0x39 { sum.add([a, b, c, d], charset) } }
                }
            }
        case "iso-2022-jp":
            for a in text { for b in text { sum.add([0x1B, 0x24, 0x42, a, b], charset) } }
            for a in text { for shift: UInt8 in [0x4A, 0x49] { sum.add([0x1B, 0x28, shift, a], charset) } }
        default: break
        }
        #expect(sum.value == expected, "\(name): \(sum.value)")
    }

    /// FNV-1a over each sequence and its scalars; skips sequences that don't decode.
    private struct Sum {
        var value: UInt64 = 0xCBF2_9CE4_8422_2325

        mutating func add(_ bytes: [UInt8], _ charset: Charset) {
            guard let text = charset.decode(Data(bytes), ignoresByteOrderMark: true) else { return }
            for byte in bytes { add(UInt32(byte)) }
            for scalar in text.unicodeScalars { add(scalar.value) }
        }

        private mutating func add(_ number: UInt32) {
            value = (value ^ UInt64(number)) &* 0x100_0000_01B3
        }
    }

    private static let sums: [(String, UInt64)] = [
        ("ibm866", 0x2ACDCA0133D311E9), ("iso-8859-2", 0x3B92E17214F08556), ("iso-8859-3", 0x3D974847C793813E),
        ("iso-8859-4", 0x811AFBC9F82FDC3D), ("iso-8859-5", 0x2621CBBB14D09735), ("iso-8859-6", 0x70C30CDE2CAC8F07),
        ("iso-8859-7", 0xAA5F9BBD0B40556D), ("iso-8859-8", 0x7ABC8BD761D5C701), ("iso-8859-8-i", 0x7ABC8BD761D5C701),
        ("iso-8859-10", 0xAF85F9A8213754B2), ("iso-8859-13", 0x268B9971610C64CC), ("iso-8859-14", 0xAA5EB03323F77F5A),
        ("iso-8859-15", 0x971613E7CFB2603F), ("iso-8859-16", 0x7C54EBD560CA2C17), ("koi8-r", 0x6C657002AE13E997),
        ("koi8-u", 0xAB6EB8C470926A0F), ("macintosh", 0x172E1D7CB65AEB76), ("windows-874", 0x2E1F3E4B269F5617),
        ("windows-1250", 0x67304286E46B8B55), ("windows-1251", 0xE76352F505D2CDF3),
        ("windows-1252", 0xF9DEAF89AAA51367), ("windows-1253", 0xADFE5F4FEDA66509),
        ("windows-1254", 0x8728294E806ABF2D), ("windows-1255", 0x126AF10E964CC2EF),
        ("windows-1256", 0xD6F8D5204E2EF214), ("windows-1257", 0xBF385514AAF9FA46),
        ("windows-1258", 0x59EDDBCF682BE2B2), ("x-mac-cyrillic", 0xAED80D6D9991BD70), ("gbk", 0x66016DD1B257D75F),
        ("gb18030", 0xD0D2637119A4C9B0), ("big5", 0x1B91D377C460CC80), ("euc-jp", 0xDE709A2AB0A77232),
        ("iso-2022-jp", 0xAE8F32AA75C1AE56), ("shift_jis", 0x24AE018D3ACFB6B3), ("euc-kr", 0xA99BA58C2EDB4A1B),
        ("utf-16be", 0xCBF29CE484222325), ("utf-16le", 0xCBF29CE484222325), ("utf-8", 0xE3683759D531325),
        ("x-user-defined", 0x5A9EDC0435FE3325), ("replacement", 0xCBF29CE484222325),
    ]
}
