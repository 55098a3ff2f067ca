import ErrandEssentials
import Testing

@testable import ErrandHTTP

@Suite("Charsets", .leakChecked) struct CharsetTests {
    private func decoded(_ label: String, _ bytes: [UInt8]) -> String? {
        Charset(label: label)?.decode(Data(bytes))
    }

    @Test(
        "a label means what the WHATWG standard defines, which is often a superset",
        arguments: [
            ("iso-8859-1", "windows-1252"), ("Latin1", "windows-1252"), ("US-ASCII", "windows-1252"),
            ("ascii", "windows-1252"), ("iso-8859-9", "windows-1254"), ("iso-8859-11", "windows-874"),
            ("tis-620", "windows-874"), ("gb2312", "gbk"), ("GB_2312-80", "gbk"), ("x-gbk", "gbk"),
            ("gb18030", "gb18030"), ("ks_c_5601-1987", "euc-kr"), ("windows-949", "euc-kr"), ("korean", "euc-kr"),
            ("x-sjis", "shift_jis"), ("Windows-31J", "shift_jis"), ("ms_kanji", "shift_jis"),
            ("Shift-JIS", "shift_jis"),
            ("big5-hkscs", "big5"), ("cn-big5", "big5"), ("utf-16", "utf-16le"), ("unicode", "utf-16le"),
            ("ucs-2", "utf-16le"), ("unicodeFFFE", "utf-16be"), ("utf8", "utf-8"), ("unicode-1-1-utf-8", "utf-8"),
            ("x-mac-ukrainian", "x-mac-cyrillic"), ("mac", "macintosh"), ("koi8-ru", "koi8-u"), ("866", "ibm866"),
            ("logical", "iso-8859-8-i"), ("visual", "iso-8859-8"), ("iso-2022-kr", "replacement"),
            ("hz-gb-2312", "replacement"), (" \tUTF-8\n", "utf-8"), ("x-user-defined", "x-user-defined"),
        ])
    func labels(label: String, name: String) { #expect(Charset(label: label)?.name == name) }

    @Test(
        "a label that the standard doesn't list names no charset",
        arguments: [
            "", " ", "utf-7", "utf-32", "no-such-charset", "UTF-8//IGNORE", "utf 8", "utf-8\u{0}", "ISO-2022-JP-3",
            "EUC-JISX0213", "TCVN", "char", "wchar_t", "utf\u{2010}8", "ſhift_jis", "ibm037", "'utf-8'", "cp932",
            String(repeating: "a", count: 100_000),
        ])
    func unknown(label: String) { #expect(Charset(label: label) == nil) }

    @Test("every name and every label of the standard's table is known")
    func table() {
        #expect(Charset.names.count == 228)
        #expect(Set(Charset.names.values).count == 40)
        for (label, name) in Charset.names {
            #expect(Charset(label: label.uppercased())?.name == name)
            #expect(Charset(label: name)?.name == name || name == "replacement")
            #expect(Charset(label: label)?.isAvailable == true, "\(label)")
        }
    }

    @Test(
        "characters that the system's tables lack or map differently follow the standard",
        arguments: [
            ("Shift_JIS", [0x43, 0x3A, 0x5C, 0x6E, 0x7E], "C:\\n~"), ("Shift_JIS", [0x80], "\u{80}"),
            ("Shift_JIS", [0x81, 0x60], "～"), ("Shift_JIS", [0x87, 0x40], "①"), ("Shift_JIS", [0xFB, 0xFC], "髙"),
            ("Shift_JIS", [0xF0, 0x40], "\u{E000}"), ("Shift_JIS", [0xB1], "ｱ"), ("EUC-JP", [0xA1, 0xC1], "～"),
            ("EUC-JP", [0xAD, 0xA1], "①"), ("EUC-JP", [0x8E, 0xB1], "ｱ"), ("EUC-JP", [0x8F, 0xB0, 0xA1], "丂"),
            ("gb2312", [0x81, 0x40], "丂"), ("gb2312", [0x80], "€"), ("gb2312", [0xA1, 0xA4], "·"),
            ("GBK", [0xA8, 0xBC], "ḿ"), ("gb18030", [0xA6, 0xD9], "︐"), ("gb18030", [0xA3, 0xA0], "\u{3000}"),
            ("gb18030", [0xFE, 0x51], "\u{E816}"), ("gb18030", [0xFE, 0x59], "\u{9FB4}"),
            ("gb18030", [0x81, 0x30, 0x81, 0x30], "\u{80}"), ("gb18030", [0x81, 0x35, 0xF4, 0x37], "\u{E7C7}"),
            ("gb18030", [0x84, 0x31, 0xA4, 0x39], "\u{FFFF}"), ("gb18030", [0x90, 0x30, 0x81, 0x30], "\u{10000}"),
            ("gbk", [0xE3, 0x32, 0x9A, 0x35], "\u{10FFFF}"), ("windows-1252", [0x93, 0x80, 0x81], "“€\u{81}"),
            ("iso-8859-1", [0x93, 0x94], "“”"), ("euc-kr", [0x8C, 0x63], "똠"), ("euc-kr", [0xB0, 0xA1], "가"),
            ("big5", [0xA1, 0x45], "‧"), ("big5", [0x88, 0x62], "Ê̄"), ("big5", [0x88, 0x66], "Ê"),
            ("big5", [0x87, 0x45], "\u{27267}"), ("big5", [0xA3, 0xE1], "€"), ("big5", [0xFE, 0xDD], "砉"),
            ("iso-8859-16", [0xA4], "€"), ("windows-874", [0x80, 0xA1], "€ก"), ("koi8-u", [0xAE], "ў"),
            ("windows-1258", [0xCC], "\u{300}"), ("macintosh", [0xDB], "€"),
            ("x-user-defined", [0x41, 0xFF], "A\u{F7FF}"),
            ("iso-2022-jp", [0x1B, 0x24, 0x42, 0x46, 0x7C], "日"),
            ("iso-2022-jp", [0x1B, 0x28, 0x4A, 0x5C, 0x7E], "¥‾"),
            ("iso-2022-jp", [0x1B, 0x28, 0x49, 0x31], "ｱ"), ("iso-2022-kr", [], ""), ("utf-16", [0x61, 0], "a"),
        ] as [(String, [UInt8], String)])
    func characters(label: String, bytes: [UInt8], expected: String) {
        #expect(decoded(label, bytes).map { Array($0.unicodeScalars) } == Array(expected.unicodeScalars))
    }

    @Test(
        "bytes without a character in the standard are an error, and so is truncated text",
        arguments: [
            ("Shift_JIS", [0x61, 0x81]), ("Shift_JIS", [0xA0]), ("Shift_JIS", [0xFD]), ("EUC-JP", [0xA4]),
            ("EUC-JP", [0x80]), ("EUC-JP", [0x8F, 0xA1]), ("big5", [0x88]), ("big5", [0x80]),
            ("GB18030", [0x81, 0x30]),
            ("gb18030", [0xFF]), ("gb18030", [0x84, 0x31, 0xA5, 0x30]), ("gb18030", [0xE3, 0x32, 0x9A, 0x36]),
            ("euc-kr", [0x80]), ("euc-kr", [0xC9, 0xA1]), ("iso-2022-jp", [0x1B, 0x24, 0x42, 0x46]),
            ("iso-2022-jp", [0x1B, 0x24]), ("iso-2022-jp", [0x0E]), ("iso-2022-jp", [0xB1]),
            ("iso-2022-jp", [0x1B, 0x28, 0x42, 0x1B, 0x28, 0x42]), ("UTF-16LE", [0x61]), ("UTF-16LE", [0x3D, 0xD8]),
            ("iso-2022-kr", [0x61]), ("hz-gb-2312", [0x61]), ("windows-1253", [0xAA]), ("iso-8859-8", [0xBF]),
            ("utf-8", [0xC0, 0x80]), ("utf-8", [0xED, 0xA0, 0x80]),
        ] as [(String, [UInt8])])
    func invalid(label: String, bytes: [UInt8]) { #expect(decoded(label, bytes) == nil) }

    @Test("a byte order mark overrides the label, and isn't part of the text", arguments: ["utf-8", "gbk", "latin1"])
    func marks(label: String) throws {
        let charset = try #require(Charset(label: label))
        #expect(charset.decode(Data([0xEF, 0xBB, 0xBF, 0xC3, 0xA9])) == "é")
        #expect(charset.decode(Data([0xFE, 0xFF, 0, 0xE9])) == "é")
        #expect(charset.decode(Data([0xFF, 0xFE, 0xE9, 0])) == "é")
        #expect(charset.decode(Data([0xEF, 0xBB, 0xBF])) == "")
        let latin = try #require(Charset(label: "latin1"))
        #expect(latin.decode(Data([0xEF, 0xBB, 0xBF]), ignoresByteOrderMark: true) == "ï»¿")
    }

    @Test("a slice of another body's bytes is decoded from its own start")
    func slices() {
        let data = Data([0xFF, 0xFF, 0x83, 0x65, 0x83, 0x58]).dropFirst(2)
        #expect(Charset(label: "shift_jis")?.decode(data) == "テス")
        #expect(Charset(label: "koi8-r")?.decode(Data([0, 0xC1]).dropFirst()) == "а")
        #expect(Charset(label: "utf-16be")?.decode(Data([0, 0x30, 0x42]).dropFirst()) == "あ")
    }
}
