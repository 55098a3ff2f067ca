import Errand
import ErrandEssentials
import ErrandTesting
import ErrandXML
import Foundation
import Testing

@Suite("The grammar of XML", .leakChecked) struct GrammarTests {
    private static let attacks = [
        "<!DOCTYPE a [<!ENTITY b 'expanded'>]><a>&b;</a>", "<!DOCTYPE a [<!ATTLIST a b CDATA 'expanded'>]><a/>",
        "<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>", "<?x?><!DOCTYPE a [<!ENTITY % b 'expanded'> %b;]><a/>",
    ]

    /// Encodes a text in UTF-7, in which only letters and digits are the same as in ASCII.
    private func utf7(_ text: String) -> Data {
        Data(
            text.map { character in
                if character.isASCII, character.isLetter || character.isNumber { return String(character) }
                let units = character.utf16.flatMap { [UInt8($0 >> 8), UInt8($0 & 0xFF)] }
                return "+" + Data(units).base64EncodedString().replacing("=", with: "") + "-"
            }.joined().utf8)
    }

    @Test("a document type is detected in every charset, with any number of byte order marks")
    func attacks() async throws {
        let marks: [Data] = [
            Data(), Data([0xEF, 0xBB, 0xBF]), Data([0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF]), Data([0xFF, 0xFE]),
            Data([0xFE, 0xFF]), Data([0xFF, 0xFE, 0, 0]), Data("+/v8-".utf8), Data([0]), Data(" ".utf8),
        ]
        let names = [
            "utf-8", "utf-7", "utf-16", "utf-16le", "utf-16be", "utf-32", "utf-32le", "iso-8859-1", "windows-1252",
            "windows-1258", "shift_jis", "iso-2022-jp", "gb18030", "us-ascii", "ibm037", "x-none",
        ]
        for attack in Self.attacks {
            for name in names {
                let declaration = "<?xml version='1.0' encoding='\(name)'?>"
                var forms = [
                    Data(attack.utf8), Data((declaration + attack).utf8), Data(declaration.utf8) + utf7(attack),
                    utf7(declaration + attack), utf16(declaration + attack, isBigEndian: true, mark: false),
                    utf16(declaration + attack, isBigEndian: false, mark: false),
                ]
                for encoding in [String.Encoding.utf32LittleEndian, .utf32BigEndian, .shiftJIS, .iso2022JP] {
                    forms += [(declaration + attack).data(using: encoding) ?? Data()]
                }
                for form in forms {
                    for mark in marks {
                        for header in [nil, name] {
                            #expect(failure(of: mark + form, charset: header) != nil, "\(attack) \(name)")
                        }
                    }
                }
            }
        }
        let inUTF7 = Data("<?xml version='1.0' encoding='UTF-7'?>".utf8)
        #expect(failure(of: inUTF7 + utf7(Self.attacks[0]))?.code == .invalidCharset)
        #expect(failure(of: inUTF7 + utf7("<a>\u{E9}</a>"))?.code == .invalidCharset)
        let twice = Data([0xEF, 0xBB, 0xBF, 0xEF, 0xBB, 0xBF])
        #expect(failure(of: twice + inUTF7 + utf7(Self.attacks[0]))?.code == .malformed)
        // The declaration is ignored if the document is already known to be UTF-8.
        let latin = Data("<?xml version='1.0' encoding='ISO-8859-1'?><a>\u{E9}</a>".utf8)
        #expect(try XMLTree(twice.prefix(3) + latin).text == "\u{E9}")
    }

    @Test("a CDATA section or a text can be as long as the document")
    func long() async throws {
        let text = String(repeating: "0123456789ab", count: 1_000_000)
        #expect(try XMLTree("<a><![CDATA[" + text + "]]></a>").text.utf8.count == 12_000_000)
        var limits = XMLLimits.standard
        limits.maximumBytes = 11_000_000
        #expect(failure(of: "<a><![CDATA[" + text + "]]></a>", limits: limits)?.code == .tooLarge)
        limits = .streaming
        limits.maximumMarkupBytes = 100
        let body = HTTPBody(chunks: [
            Data(("<a>" + text.prefix(100_000) + "<![CDATA[" + text.prefix(100_000) + "]]></a>").utf8)
        ])
        let count = try await XMLEvents(body, limits: limits).all().reduce(0) { count, event in
            if case .text(let text) = event { count + text.utf8.count } else { count }
        }
        #expect(count == 200_000)
    }

    @Test(
        "a document type that isn't well-formed is an error, whether it's skipped or not",
        arguments: [
            "<!DOCTYPE 1>", "<!DOCTYPE a'b'>", "<!DOCTYPE a SYSTEM>", "<!DOCTYPE a SYSTEM 'b' 'c'>",
            "<!DOCTYPE a PUBLIC 'b'>",
            "<!DOCTYPE a PUBLIC '{' 'c'>", "<!DOCTYPE a PUBLIC '\u{E9}' 'c'>", "<!DOCTYPE a PUBLIC 'b''c'>",
            "<!DOCTYPE a system 'b'>",
            "<!DOCTYPE a SYSTEM '\u{1}'>", "<!DOCTYPE <a>", "<!DOCTYPE a <>", "<!DOCTYPE>", "<!DOCTYPEa>",
            "<!doctype a>", "<!DOCTYPE a/>",
            "<!DOCTYPE a ]>", "<!DOCTYPE a,b>",
        ])
    func documentTypes(_ text: String) {
        var limits = XMLLimits.standard
        limits.skipsDocumentType = true
        for limits in [.standard, limits] { #expect(failure(of: text + "<a/>", limits: limits)?.code == .malformed) }
        #expect(failure(of: "<!DOCTYPE a PUBLIC '-//A//B' \"c'd\" ><a/>", limits: limits) == nil)
        #expect(failure(of: "<!DOCTYPE \u{E9}:b><a/>") == nil)
    }

    @Test("an empty charset is ignored in a header, and an error in a declaration")
    func emptyCharset() async throws {
        let document = Data("<?xml version='1.0' encoding='utf-8'?><a>\u{E9}</a>".utf8)
        #expect(try XMLTree(document, charset: "").text == "\u{E9}")
        let agent = NetworkAgent(
            baseURL: "http://stub",
            transport: .stub(StubResponse(headers: ["Content-Type": "text/xml; charset=\"\""], body: document)))
        #expect(try await agent.send(Call<XMLTree>(.get, "a")).value.text == "\u{E9}")
        for name in ["", "1", "-a", "a b", "\u{E9}"] {
            #expect(failure(of: "<?xml version='1.0' encoding='\(name)'?><a/>")?.code == .malformed, "\(name)")
        }
        for version in ["", "1", "2.0", "1-0", "1.0a", "a"] {
            #expect(failure(of: "<?xml version='\(version)'?><a/>")?.code == .malformed, "\(version)")
        }
        #expect(failure(of: "<?xml version='1.0' standalone='maybe'?><a/>")?.code == .malformed)
    }

    @Test("line ends and white space in values are normalized, references aren't")
    func normalization() throws {
        let tree = try XMLTree("<a b='1\r\n2\r3\n4\t5&#10;&#13;&#9;&lt;'>x\r\ny\rz\r\r\n&#13;<![CDATA[\r\n&#10;]]></a>")
        #expect(tree.attribute("b")?.utf8.elementsEqual("1 2 3 4 5\n\r\t<".utf8) == true)
        #expect(tree.text.utf8.elementsEqual("x\ny\nz\n\n\r\n&#10;".utf8))
    }

    @Test("names follow XML 1.0, fifth edition, and differ if their characters do")
    func names() throws {
        for name in [
            "_", "a.b-c_d1", "\u{E9}", "e\u{301}", "\u{6F22}", "\u{10000}", "a\u{B7}", "a\u{203F}", "\u{200C}",
        ] {
            #expect(try XMLTree("<\(name) \(name)='1'><\(name)/></\(name)>").name.local == name)
        }
        for name in [
            "1", "-", ".", "\u{B7}", "\u{301}", "\u{D7}", "\u{F7}", "\u{37E}", "\u{2028}", "a\u{D7}", "a\u{E000}", "a$",
            "a,b",
        ] {
            #expect(failure(of: "<\(name)/>")?.code == .malformed, "\(name.debugDescription)")
            #expect(failure(of: "<a \(name)='1'/>")?.code == .malformed, "\(name.debugDescription)")
        }
        let both = try XMLTree("<a \u{E9}='1' e\u{301}='2'/>")
        #expect(both.attributes.count == 2 && both.attribute(XMLName("e\u{301}")) == "2")
        #expect(failure(of: "<\u{E9}></e\u{301}>")?.code == .malformed)
        for text in ["<p:1 xmlns:p='u'/>", "<a xmlns:1='u'/>", "<a xmlns:='u'/>", "<:a/>", "<a:/>", "<?a:b c?><a/>"] {
            #expect(failure(of: text)?.code == .invalidNamespace, "\(text)")
        }
        #expect(failure(of: "<a xmlns='u' xmlns='v'/>")?.code == .malformed)
    }
}
