import ErrandEssentials
import Testing

@testable import ErrandHTTP

@Suite("Charsets", .leakChecked) struct CharsetTests {
    @Test(
        "the last letter of a charset with combining characters is not lost",
        arguments: [
            ("windows-1258", [0x61], "a"), ("windows-1258", [0x56, 0x69, 0xEA, 0x74], "Viêt"),
            ("windows-1258", [0x41, 0xD2, 0x41], "ẢA"), ("windows-1258", [0x61, 0xCC], "à"), ("TCVN", [0x61], "a"),
            ("TCVN5712-1", [0x58, 0x69, 0x6E], "Xin"), ("windows-1255", [0xE0], "א"),
            ("BIG5-HKSCS", [0x88, 0x66], "Ê"),
            ("EUC-JISX0213", [0xA4, 0xAB], "か"), ("SHIFT_JISX0213", [0x82, 0xA9], "か"),
            ("ISO-2022-JP-3", [0x1B, 0x24, 0x28, 0x51, 0x24, 0x2B], "か"),
            ("ISO-2022-JP", [0x1B, 0x24, 0x42, 0x46, 0x7C], "日"),
            ("ISO-2022-JP", [0x1B, 0x24, 0x42, 0x46, 0x7C, 0x1B, 0x28, 0x42], "日"),
            ("ISO-2022-KR", [0x1B, 0x24, 0x29, 0x43, 0x0E, 0x30, 0x21], "가"),
            ("ISO-2022-CN", [0x1B, 0x24, 0x29, 0x41, 0x0E, 0x30, 0x21], "啊"), ("TSCII", [0xAB, 0xAA], "அௗ"),
            ("UTF-7", [0x2B, 0x41, 0x47, 0x45, 0x2D], "a"), ("UTF-7", [0x2B, 0x41, 0x47, 0x45], "a"),
            ("UTF-7", [0x61, 0x2D], "a-"), ("utf-16", [0xFF, 0xFE, 0x61, 0x00], "a"), ("windows-1252", [], ""),
        ] as [(String, [UInt8], String)])
    func flushing(name: String, bytes: [UInt8], expected: String) {
        #expect(Charset.decode(Data(bytes), named: name) == expected)
    }

    @Test(
        "input that is cut short is an error and not a letter less",
        arguments: [
            ("Shift_JIS", [0x61, 0x81]), ("EUC-JP", [0xA4]), ("BIG5-HKSCS", [0x88]), ("GB18030", [0x81, 0x30]),
            ("ISO-2022-JP", [0x1B, 0x24, 0x42, 0x46]), ("ISO-2022-JP", [0x1B, 0x24]), ("UTF-16LE", [0x61]),
            ("UTF-16LE", [0x3D, 0xD8]), ("UTF-32", [0x61, 0x00]), ("UTF-7", [0x61, 0x2B]),
            ("UTF-7", [0x2B, 0x41, 0x47]),
            ("UTF-7", [0x2B, 0x32, 0x44, 0x30]), ("T.61", [0xC1]), ("no-such-charset", [0x61]),
            ("UTF-8//IGNORE", [0xFF]),
        ] as [(String, [UInt8])])
    func cutShort(name: String, bytes: [UInt8]) {
        #expect(Charset.decode(Data(bytes), named: name) == nil)
    }

    @Test(
        "long texts grow the output as far as it takes, wherever the buffer ends", arguments: [1, 127, 128, 255, 5000])
    func growing(count: Int) {
        let text = String(repeating: "ấ", count: count)
        let pairs = [[UInt8]](repeating: [0xE2, 0xEC], count: count)
        let decoded = Charset.decode(Data(pairs.joined()), named: "windows-1258")
        #expect(decoded == text)
        let tamil = Charset.decode(Data(repeating: 0xAB, count: count), named: "TSCII")
        #expect(tamil == String(repeating: "அ", count: count))
    }
}
