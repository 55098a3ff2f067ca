import Errand
import ErrandEssentials
import ErrandXML
import Testing

@Suite("A tree of XML", .leakChecked) struct TreeTests {
    @Test("has names, attributes, text and CDATA, with entities resolved and comments left out")
    func reading() throws {
        let feed = try XMLTree(atom)
        #expect(feed.name == XMLName("feed", in: atomNamespace) && feed.name.prefix == nil)
        #expect(feed["title"]?.text == "Z\u{FC}rich & \u{6F22}\u{5B57} \u{1F600}")
        let entry = try #require(feed["entry"])
        #expect(entry.attribute("id") == "8" && entry.attribute("note") == "a > b")
        #expect(entry.attribute(XMLName("id", in: "urn:media")) == "7")
        #expect(entry["title"]?.text == "a < b and more")
        let title = try #require(entry["title"])
        #expect(
            title.content == [
                .text("a < b and "), .element(XMLTree(XMLName("b", in: atomNamespace), content: [.text("more")])),
            ])
        #expect(feed.children.count == 4 && feed.attribute("lang") == "de")
        #expect("\(feed)" == "<feed> with 1 attributes and 4 elements")
    }

    @Test("distinguishes names in different namespaces, with any prefix")
    func namespaces() throws {
        let feed = try XMLTree(atom)
        #expect(feed.all("entry").count == 3)
        #expect(feed.all(XMLName("entry", in: atomNamespace)).count == 2)
        #expect(feed[XMLName("entry", in: "urn:other")]?.text == "x" && feed[XMLName("entry", in: "urn:media")] == nil)
        let nested = try XMLTree("<a xmlns='u'><b xmlns=''><c/></b><d/></a>")
        #expect(nested["b"]?["c"]?.name == XMLName("c") && nested["d"]?.name == XMLName("d", in: "u"))
        #expect(XMLName("a", in: "u", prefix: "x") == XMLName("a", in: "u", prefix: "y"))
        #expect(XMLName("a", in: "u", prefix: "x").description == "x:a")
    }

    @Test(
        "has no prefix without a namespace, and no repeated attributes",
        arguments: [
            ("<q:a/>", XMLError.Code.invalidNamespace), ("<a q:b='1'/>", .invalidNamespace),
            ("<a xmlns:k=''/>", .invalidNamespace),
            ("<a xmlns:xml='u'/>", .invalidNamespace), ("<a xmlns:xmlns='u'/>", .invalidNamespace),
            ("<a:b:c xmlns:a='u'/>", .invalidNamespace),
            ("<a xmlns:k='http://www.w3.org/XML/1998/namespace'/>", .invalidNamespace),
            ("<a><b xmlns:k='u'/><k:c/></a>", .invalidNamespace),
            ("<a xmlns:k='u' xmlns:j='u' k:b='1' j:b='2'/>", .malformed), ("<a b='1' b='2'/>", .malformed),
        ])
    func wrongNames(_ text: String, _ code: XMLError.Code) { #expect(failure(of: text)?.code == code) }

    @Test(
        "isn't created from text that isn't well-formed",
        arguments: [
            "{\"a\":1}", "hello", "<a></b>", "<a/><b/>", "<a/>x", "<a>&foo;</a>", "<a>]]></a>", "<a>\u{0}</a>",
            "<a>\u{1}</a>",
            "<a b=1/>", "<a b/>", "<a b='<'/>", "<a b='1'c='2'/>", "<a>&#0;</a>", "<a>&#xD800;</a>", "<a>&amp</a>",
            "< a/>",
            "<!-- a -- b --><a/>", " <?xml version='1.0'?><a/>", "<a><?xml version='1.0'?></a>", "<?xml?><a/>",
            "<?xml encoding='utf-8'?><a/>", "<?xml version='1.0' encoding='utf-8' encoding='utf-16'?><a/>",
            "<?xml version='1.0' standalone='yes' encoding='utf-8'?><a/>", "<a><!DOCTYPE a></a>", "<a/><!DOCTYPE a>",
            "<!DOCTYPE a><!DOCTYPE a><a/>", "<!DOCTYPE><a/>", "<!DOCTYPE a SYSTEM><a/>", "<!DOCTYPE a PUBLIC 'x'><a/>",
            "<!DOCTYPE a b c><a/>", "<![CDATA[x]]>", "<a/><![CDATA[x]]>",
        ])
    func malformed(_ text: String) {
        #expect(failure(of: text)?.code == .malformed, "\(text)")
        #expect(failure(of: text + String(repeating: " ", count: 70_000))?.code == .malformed, "\(text)")
    }

    @Test("is created from unusual but valid text")
    func odd() throws {
        for text in [
            "<a/>", "<?xml version='1.1'?><a xml:lang='!!' xml:space='x' xmlns='rel uri'/>", "<!DOCTYPE a><a/>",
            "\n\n<a/>\n\n",
            "<?xml version='1.0' standalone=\"no\" ?><a/>", "<?xml\n version = '1.0'\n encoding = 'utf-8' ?><a/>",
            "<!--<!DOCTYPE a [<!ENTITY b 'c'>]>--><a/>", "<a><![CDATA[<!DOCTYPE a []>]]></a>",
            "<?p <!DOCTYPE a []>?><a/>",
            "<a b='&lt;!DOCTYPE'/>",
        ] { #expect(throws: Never.self, "\(text)") { try XMLTree(text) } }
    }

    @Test("errors have a line and a column, a stable number, and no text of the document")
    func places() {
        let error = failure(of: "<a>\n  <b>\u{E9}secret &foo;</b>\n</a>")
        #expect(error?.line == 2 && error?.column == 19)
        #expect(error?.description == "malformed: an entity is not declared, line 2, column 19")
        #expect(error?.errorCode == 1)
        let early = failure(of: "<a>\n<b>")
        #expect(early?.code == .truncated && early?.line == 2 && early?.column == 4)
        let bytes = failure(of: Data("<a>\n\u{E9}".utf8) + [0xFF, 0x3C])
        #expect(bytes?.code == .invalidCharset && bytes?.line == 2 && bytes?.column == 2)
        let type = failure(of: "<!-- x -->\n  <!DOCTYPE a [<!ENTITY b 'c'>]>\n<a/>")
        #expect(type?.code == .refusedDocumentType && type?.line == 2 && type?.column == 3)
        // Text removed before the parser runs doesn't shift positions.
        let behind = failure(of: "<?xml version='1.0' encoding='utf-8'?><!DOCTYPE \u{E9}\n><a></b>")
        #expect(behind?.line == 2 && behind?.column == 9)
    }
}
