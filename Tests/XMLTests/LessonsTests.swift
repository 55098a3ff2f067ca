import Errand
import ErrandEssentials
import ErrandTesting
import ErrandXML
import Testing

/// Behavior that users of other libraries missed; the reports are in Tests/Lessons.md.
@Suite("Documents that other XML parsers got wrong", .endsInTime, .leakChecked)
struct DocumentLessonsTests {
    private func texts(_ events: [XMLEvent]) -> String {
        events.map { if case .text(let text) = $0 { text } else { "" } }.joined()
    }

    @Test("chunks can end anywhere: within a CDATA section, a comment, a name or a character")
    func chunks() async throws {
        let text = """
            <?xml version="1.0"?><!-- - -- -->
            <r:a xmlns:r="urn:r" p="Z\u{FC}rich \u{1F600}&amp;'&gt;" q='"'><![CDATA[<![CDATA[ ]] ]>]]]]><![CDATA[>]]>\
            <b/>x&#x1F600;&lt;y<?pi a?b?>z\r\n\r</r:a>
            """.replacing("<!-- - -- -->", with: "<!-- - - -->")
        let data = Data(text.utf8)
        let whole = joined(try await XMLEvents(HTTPBody(chunks: [data])).all())
        #expect(texts(whole) == "<![CDATA[ ]] ]>]]>x\u{1F600}<yz\n\n")
        for cut in 1..<data.count {
            let parts = [Data(data.prefix(cut)), Data(data.dropFirst(cut))]
            #expect(joined(try await XMLEvents(HTTPBody(chunks: parts)).all()) == whole, "\(cut)")
        }
    }

    @Test(
        "a CDATA section can contain brackets, markup and code",
        arguments: [
            "a]b]]c", "]", "]]", "]]]", "<!h<!h<!h<", "[a][b]", "x = a[b[0]]>1", "</p><!/x>", "<!DOCTYPE html>",
            "&nbsp;&#0;",
            "if (a[i] > b && c < d) {}", "C:\\data\\1", "",
        ])
    func sections(text: String) async throws {
        let document = "<a><![CDATA[\(text.replacing("]]>", with: "]]]]><![CDATA[>"))]]></a>"
        #expect(try XMLTree(document).text == text)
        let events = XMLEvents(HTTPBody(chunks: document.utf8.map { Data([$0]) }))
        #expect(texts(try await events.all()) == text)
    }

    @Test("a prefix applies to the tag that declares it, in any order of attributes, and can be non-ASCII")
    func prefixes() throws {
        for tag in [
            "\u{EA}:test id='t' xmlns:\u{EA}='urn:EA' \u{E2}:at='v'",
            "\u{EA}:test xmlns:\u{EA}='urn:EA' id='t' \u{E2}:at='v'",
            "\u{EA}:test \u{E2}:at='v' id='t' xmlns:\u{EA}='urn:EA'",
        ] {
            let tree = try XMLTree("<html xmlns='urn:h' xmlns:\u{E2}='urn:E2'><\(tag)/></html>")
            let test = try #require(tree.children.first)
            #expect(test.name == XMLName("test", in: "urn:EA") && test.name.prefix == "\u{EA}")
            #expect(test.attribute("id") == "t" && test.attribute(XMLName("at", in: "urn:E2")) == "v")
        }
        let soap = try XMLTree("<s:Envelope xmlns:s='urn:s'><s:Body><n:ok xmlns:n='urn:n'/></s:Body></s:Envelope>")
        #expect(soap.name.local == "Envelope" && soap.name.prefix == "s")
        #expect(soap["Body"]?.children.first?.name == XMLName("ok", in: "urn:n"))
    }

    @Test("an element can be named xmlns, and only an attribute of that name declares a namespace")
    func xmlns() throws {
        let tree = try XMLTree("<xmlns a='1'><xmlns/></xmlns>")
        #expect(tree.name == XMLName("xmlns") && tree["xmlns"] != nil && tree.attribute("a") == "1")
        #expect(failure(of: "<xmlns:a/>")?.code == .invalidNamespace)
    }

    @Test(
        "a reference to a character that XML or Unicode doesn't have is an error, with any number",
        arguments: [
            "&#1114112;", "&#x110000;", "&#55296;", "&#xDFFF;", "&#99999999999999999999;", "&#xFFFFFFFFFFFFFFFFF;",
            "&#8;",
            "&#xFFFE;", "&#-1;", "&#;", "&#x;", "&#x41", "&#X41;", "&# 65;", "&#1f;", "&#18446744073709551681;",
        ])
    func references(text: String) async throws {
        #expect(failure(of: "<a>\(text)</a>")?.code == .malformed)
        #expect(failure(of: "<a b='\(text)'/>")?.code == .malformed)
        #expect(try await streamFailure(of: Data("<a>\(text)</a>".utf8))?.code == .malformed)
    }

    @Test(
        "HTML entities aren't declared in a feed: the position is reported, and no text is lost silently",
        arguments: ["nbsp", "rsquo", "mdash", "eacute", "copy"])
    func htmlEntities(name: String) {
        let error = failure(of: "<rss>\n<title>a&\(name);b</title></rss>")
        #expect(error?.code == .malformed && error?.line == 2)
        #expect(error?.message == "an entity is not declared")
    }

    @Test("white space before the XML declaration is refused, with this reason")
    func leadingSpace() async throws {
        for space in [" ", "\n", "\r\n\t", "\u{FEFF}\n"] {
            let document = space + "<?xml version='1.0' encoding='UTF-8'?>\n<rss/>"
            let error = failure(of: document)
            #expect(error?.code == .malformed && error?.message.contains("declaration") == true)
            #expect(try await streamFailure(of: Data(document.utf8)) == error)
            // The guide's advice: remove the white space before the document.
            let text = Data(document.utf8).drop { " \r\n\t".utf8.contains($0) }
            #expect(space.hasPrefix("\u{FEFF}") || (try? XMLTree(Data(text)).name.local) == "rss")
        }
    }

    @Test(
        "a UTF-16 declaration before UTF-8 bytes is ignored, as in HTML, and strict UTF-8 is read",
        arguments: ["utf-16", "UTF-16", "UTF-16LE", "unicode", "ISO-10646-UCS-2", "utf-32", "UCS-4"])
    func falseDeclaration(name: String) async throws {
        let text =
            "<?xml version=\"1.0\" encoding=\"\(name)\" standalone=\"yes\"?><Response><Data>Z\u{FC}rich</Data></Response>"
        #expect(try XMLTree(text)["Data"]?.text == "Z\u{FC}rich")
        let events = XMLEvents(HTTPBody(chunks: text.utf8.map { Data([$0]) }))
        #expect(texts(try await events.all()) == "Z\u{FC}rich")
        // The same text, as it is declared.
        #expect(try XMLTree(utf16(text, isBigEndian: false, mark: true))["Data"]?.text == "Z\u{FC}rich")
        let latin = Data(text.unicodeScalars.map { UInt8($0.value) })
        #expect(failure(of: latin)?.code == .invalidCharset)
        let attack = "<?xml version='1.0' encoding='\(name)'?><!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>"
        #expect(failure(of: attack)?.code == .refusedDocumentType)
    }

    @Test("a byte order mark can be incomplete, and takes precedence over a declaration")
    func marks() async throws {
        for bytes: [UInt8] in [[0xFE], [0xFF], [0xEF], [0xEF, 0xBB], [0xFF, 0xFE], [0xFE, 0xFF], [0, 0, 0xFE], []] {
            #expect(failure(of: Data(bytes)) != nil)
            #expect(try await streamFailure(of: Data(bytes)) != nil)
        }
        let text = "<?xml version='1.0' encoding='iso-8859-1'?><a>\u{E9}</a>"
        #expect(try XMLTree(Data([0xEF, 0xBB, 0xBF]) + Data(text.utf8)).text == "\u{E9}")
        let long =
            "<?xml version='1.0' encoding='UTF-16'?><a>" + String(repeating: "\u{E9}\u{1F600}", count: 20_000) + "</a>"
        for isBigEndian in [true, false] {
            #expect(try XMLTree(utf16(long, isBigEndian: isBigEndian, mark: true)).text.unicodeScalars.count == 40_000)
        }
    }

    @Test("an HTML page instead of a feed is an error that keeps the response")
    func pages() async throws {
        for page in [
            "<!DOCTYPE html>\n<html><head><meta charset=utf-8></head></html>", "<html><br></html>",
            "<!DOCTYPE html PUBLIC \"-//W3C//DTD XHTML 1.0 Strict//EN\" \"x.dtd\"><html/>",
        ] {
            let response = StubResponse(headers: ["Content-Type": "application/xml"], body: Data(page.utf8))
            let agent = NetworkAgent(baseURL: "http://stub", transport: .stub(response))
            let error = await #expect(throws: ErrandError.self) { try await agent.send(Call<XMLTree>(.get, "feed")) }
            #expect(error?.code == .decodingFailed && error?.xml != nil && error?.response?.data == Data(page.utf8))
        }
    }

    @Test("an RSS 0.91 feed with Netscape's document type is read if the limits allow it")
    func rss091() throws {
        var limits = XMLLimits.standard
        limits.skipsDocumentType = true
        let text = """
            <?xml version="1.0" encoding="ISO-8859-1"?>
            <!DOCTYPE rss PUBLIC "-//Netscape Communications//DTD RSS 0.91//EN"
             "http://my.netscape.com/publish/formats/rss-0.91.dtd">
            <rss version="0.91"><channel><title>News &amp; more</title></channel></rss>
            """
        #expect(try XMLTree(text, limits: limits)["channel"]?["title"]?.text == "News & more")
        #expect(failure(of: text)?.code == .refusedDocumentType)
    }
}
