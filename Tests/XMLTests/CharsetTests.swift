import Errand
import ErrandEssentials
import ErrandXML
import Testing

@Suite("The charset of XML", .leakChecked) struct CharsetTests {
    private func latin(_ text: String) -> Data { Data(text.unicodeScalars.map { UInt8($0.value) }) }

    @Test("the byte order mark, the header and the declaration determine the charset, in this order; default: UTF-8")
    func precedence() async throws {
        let text = "<a>\u{E9}</a>"
        func declared(_ name: String) -> String { "<?xml version=\"1.0\" encoding=\"\(name)\"?>" + text }
        let mark = Data([0xEF, 0xBB, 0xBF])
        let cases: [(Data, String?)] = [
            (Data(text.utf8), nil), (Data(declared("utf-8").utf8), nil), (Data(declared("ISO-8859-1").utf8), "UTF-8"),
            (mark + Data(declared("ISO-8859-1").utf8), "iso-8859-1"), (latin(declared("ISO-8859-1")), nil),
            (latin(declared("windows-1252")), nil), (latin(declared("utf-8")), "iso-8859-1"),
            (latin(text), "windows-1252"),
            (utf16(declared("utf-16"), isBigEndian: true, mark: true), nil),
            (utf16(text, isBigEndian: false, mark: true), nil),
            (utf16(declared("utf-16"), isBigEndian: false, mark: false), nil),
            (utf16(text, isBigEndian: true, mark: false), "utf-16"),
            (utf16(text, isBigEndian: false, mark: false), "utf-16le"),
            (utf16(text, isBigEndian: true, mark: true), "utf-8"),
        ]
        for (index, (data, charset)) in cases.enumerated() {
            #expect(try XMLTree(data, charset: charset).text == "\u{E9}", "\(index)")
            let pieces = HTTPBody(chunks: data.map { Data([$0]) })
            #expect(joined(try await XMLEvents(pieces, charset: charset).all()).contains(.text("\u{E9}")), "\(index)")
        }
    }

    @Test("can have several bytes per character")
    func multibyte() throws {
        let head = Data("<?xml version='1.0' encoding='Shift_JIS'?><a>".utf8)
        #expect(try XMLTree(head + [0x8A, 0xBF, 0x8E, 0x9A] + Data("</a>".utf8)).text == "\u{6F22}\u{5B57}")
    }

    @Test("has the WHATWG standard's meaning, with any chunks")
    func labels() async throws {
        let cases: [(String, [UInt8], String)] = [
            ("Shift_JIS", [0x5C, 0x7E, 0x87, 0x40], "\\~①"), ("gb2312", [0x81, 0x40, 0x80], "丂€"),
            ("iso-8859-1", [0x93, 0xEF, 0xBB, 0xBF, 0x94], "“ï»¿”"), ("us-ascii", [0xE9], "é"),
            ("ks_c_5601-1987", [0x8C, 0x63], "똠"), ("big5", [0x87, 0x45], "\u{27267}"), ("koi8-ru", [0xAE], "ў"),
            ("windows-1258", [0x61, 0xCC], "a\u{300}"), ("x-user-defined", [0xFF], "\u{F7FF}"),
        ]
        for (label, bytes, expected) in cases {
            let element = Data("<a>".utf8) + bytes + Data("</a>".utf8)
            let declared = Data("<?xml version='1.0' encoding='\(label)'?>".utf8) + element
            for (data, charset) in [(element, label), (declared, nil), (declared, "")] as [(Data, String?)] {
                #expect(try XMLTree(data, charset: charset).text == expected, "\(label)")
                let pieces = HTTPBody(chunks: data.map { Data([$0]) })
                let events = try await XMLEvents(pieces, charset: charset).all()
                let text = events.map { if case .text(let text) = $0 { text } else { "" } }.joined()
                #expect(text == expected, "\(label)")
            }
        }
    }

    @Test("UTF-32 is recognized by its byte order mark or its first bytes")
    func utf32() async throws {
        for isBig in [true, false] {
            for mark in ["\u{FEFF}", ""] {
                let bytes = (mark + "<a>é\u{1F600}</a>").unicodeScalars.flatMap { scalar in
                    let bytes = (0..<4).map { UInt8(truncatingIfNeeded: scalar.value >> (8 * $0)) }
                    return isBig ? bytes.reversed() : bytes
                }
                #expect(try XMLTree(Data(bytes)).text == "é\u{1F600}")
                #expect(failure(of: Data(bytes.dropLast()))?.code == .truncated)
                let pieces = HTTPBody(chunks: bytes.map { Data([$0]) })
                #expect(joined(try await XMLEvents(pieces).all()).contains(.text("é\u{1F600}")))
            }
        }
    }

    @Test("is an error if it is unknown, or if the bytes are invalid in it")
    func unknown() async throws {
        let bad: [(Data, String?)] = [
            (latin("<a>\u{E9}</a>"), "no-such-charset"),
            (Data("<?xml version='1.0' encoding='x-none'?><a/>".utf8), nil),
            (latin("<a>\u{E9}</a>"), nil),
            (latin("<?xml version='1.0' encoding='utf-8'?><a>\u{E9}</a>"), nil), (latin("<a>\u{E9}</a>"), "a b"),
            (Data([0xFE, 0xFF, 0, 0x3C, 0xDC, 0, 0, 0x61]), nil), (Data([0x3C, 0x61, 0x3E, 0xC0, 0x80, 0x3C]), nil),
            (Data([0x3C, 0x61, 0x3E, 0xED, 0xA0, 0x80, 0x3C]), nil),
        ]
        for (index, (data, charset)) in bad.enumerated() {
            #expect(failure(of: data, charset: charset)?.code == .invalidCharset, "\(index)")
            #expect(try await streamFailure(of: data, charset: charset)?.code == .invalidCharset, "\(index)")
        }
    }

    @Test(
        "if the header's charset is unknown, the declaration or UTF-8 is used",
        arguments: ["utf8mb4", "none", "a b", "'utf-8'"])
    func unknownHeader(label: String) throws {
        let declared = latin("<?xml version='1.0' encoding='iso-8859-1'?><a>\u{E9}</a>")
        #expect(try XMLTree(declared, charset: label).text == "\u{E9}")
        #expect(try XMLTree(Data("<a>\u{E9}</a>".utf8), charset: label).text == "\u{E9}")
    }
}
