import Errand
import ErrandEssentials
import ErrandXML
import Testing

/// Behavior that users of other libraries missed; the reports are in Tests/Lessons.md.
@Suite("Feeds and values that other XML parsers got wrong", .endsInTime, .leakChecked)
struct FeedLessonsTests {
    @Test(
        "literal white space in a value is normalized, and references to white space are kept",
        arguments: [
            ("value0&#xA;value1", "value0\nvalue1"), ("L1\nL2\tT\rR", "L1 L2 T R"),
            ("L1&#10;L2&#9;T&#13;R", "L1\nL2\tT\rR"), ("a\r\nb", "a b"), ("a&#13;&#10;b", "a\r\nb"),
            ("  a  b ", "  a  b "),
            ("a &amp;amp; b", "a &amp; b"), ("&#38;lt;", "&lt;"), ("10 > 1", "10 > 1"), ("]]>", "]]>"),
            ("it's", "it's"),
        ])
    func values(text: String, value: String) throws {
        #expect(try XMLTree("<a note=\"\(text)\"/>").attribute("note") == value)
    }

    @Test(
        "a character that is split between chunks is complete",
        arguments: ["\u{7530}", "\u{8BEF}", "\u{1F342}", "\u{44C}"])
    func splitCharacters(text: String) async throws {
        for padding in [0, 1, 1019, 1020, 1021, 1022, 1023] {
            let data = Data("<a b=\"\(text)\"><!--\(text)-->\(String(repeating: "x", count: padding))\(text)</a>".utf8)
            for sizes in [1, 1024] {
                let chunks = stride(from: 0, to: data.count, by: sizes).map {
                    Data(data[$0..<min(data.count, $0 + sizes)])
                }
                let events = joined(try await XMLEvents(HTTPBody(chunks: chunks)).all())
                #expect(
                    events == [
                        .start(XMLName("a"), [XMLName("b"): text]),
                        .text(String(repeating: "x", count: padding) + text), .end(XMLName("a")),
                    ])
            }
        }
    }

    @Test("text around elements and CDATA sections is complete, with its white space")
    func mixedText() throws {
        let tree = try XMLTree(
            "<root><header>\n  header mixed content\n  <title>T</title>!</header><d>\n  <![CDATA[<p>x</p>]]>\n</d><u>\n2005-05-16\n</u></root>"
        )
        #expect(tree["header"]?.text == "\n  header mixed content\n  T!" && tree["header"]?["title"]?.text == "T")
        #expect(tree["d"]?.text == "\n  <p>x</p>\n" && tree["u"]?.text == "\n2005-05-16\n")
        let link = try XMLTree("<p>see <a href='x'>this</a> page</p>")
        #expect(link.text == "see this page" && link.content.count == 3)
    }

    @Test("elements of a feed are found by local name, with any prefix or default namespace")
    func prefixedFeeds() throws {
        let prefixed = """
            <rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns:rss = 'http://purl.org/rss/1.0/'>
            <rss:channel><rss:title>Prefixed</rss:title></rss:channel><rss:item rdf:about="http://example.com/1"/></rdf:RDF>
            """
        let feed = try XMLTree(prefixed)
        #expect(feed["channel"]?["title"]?.text == "Prefixed" && feed.all("item").count == 1)
        #expect(feed["item"]?.attribute("about") == "http://example.com/1")
        let rss = XMLName("channel", in: "http://purl.org/rss/1.0/")
        #expect(feed[rss] != nil && feed[XMLName("channel")] == nil)
        let wrong = try XMLTree(
            "<rss xmlns='http://www.w3.org/2005/Atom' version='2.0'><channel><item/></channel></rss>")
        #expect(wrong["channel"]?.all("item").count == 1)
        let spaced = try XMLTree("<feed xmlns = 'http://www.w3.org/2005/Atom' ><entry/></feed>")
        #expect(spaced[XMLName("entry", in: "http://www.w3.org/2005/Atom")] != nil)
    }

    @Test("a charset that the app passes takes precedence over the declaration of converted text")
    func convertedTexts() throws {
        for label in ["gbk", "iso-8859-1", "shift_jis", "windows-1251"] {
            let text = "<?xml version=\"1.0\" encoding=\"\(label)\"?><a><![CDATA[\u{56FD}\u{5185}\u{E9}]]></a>"
            #expect(try XMLTree(Data(text.utf8), charset: "utf-8").text == "\u{56FD}\u{5185}\u{E9}")
        }
        let latin = Data("<?xml version='1.0' encoding='ISO-8859-1'?><a>k".utf8) + [0xF8] + Data("b</a>".utf8)
        #expect(try XMLTree(latin).text == "k\u{F8}b")
        let chinese = Data("<?xml version='1.0' encoding='gb2312'?><a>".utf8) + [0xC4, 0xE3] + Data("</a>".utf8)
        #expect(try XMLTree(chinese).text == "\u{4F60}")
    }

    @Test(
        "control characters are errors with their position, and the app can remove them",
        arguments: ["\u{8}", "&#11;", "&#x8;"])
    func controlCharacters(text: String) throws {
        let document = "<rss><title>\nx\(text)</title></rss>"
        let error = failure(of: document)
        #expect(error?.code == .malformed && error?.line == 2)
        #expect(try XMLTree(document.replacing(text, with: "")).text == "\nx")
    }

    @Test(
        "a document that isn't well-formed is an error, and isn't partly read",
        arguments: [
            "<message xmlns=invalid \"jabber:client\"/>", "<L onClick=\"doClick>Hello</L>",
            "<L onClick=doClick\">x</L>",
            "<a><type=\"opaque\"/></a>", "<foo bar=\"&#34\" baz=\"1\"/>", "<a>SEO & Analytics</a>", "<a b='1' b='2'/>",
            "<s:E xmlns:s='u'><u:R xmlns:u=urn:x\"><T/></u:R></s:E>", "<a>&#1;</a>", "<a>&#xB;</a>", "<a>]]></a>",
            "<a b='<'/>", "<a b='1'c='2'/>", "<a\u{A0}b='1'/>", "<a></a b>", "<a/><b/>", "<a/>x", "x<a/>", "<a b/>",
            "<a b=/>", "<?xml version='1.0'?><?xml version='1.0'?><a/>", "<a><?XML x?></a>", "<a><!-- -- --></a>",
            "<a xmlns:p='u' xmlns:q='u' p:x='1' q:x='2'/>", "<a:b:c xmlns:a='u'/>", "< a/>", "<a>\u{B}</a>",
        ])
    func malformed(text: String) async throws {
        #expect(failure(of: text) != nil)
        #expect(try await streamFailure(of: Data(text.utf8)) != nil)
    }

    @Test(
        "a well-formed document is read",
        arguments: [
            ("<?xml-stylesheet href='a'?><a>1</a>", "1"), ("<a>a > b</a>", "a > b"), ("<a>]] ></a>", "]] >"),
            ("<a><?x it's?>1</a>", "1"), ("<!--it's \"--><a>1</a>", "1"), ("<a >1</a >", "1"),
            ("<a>1</a><!-- x --> <?y?>", "1"),
            ("<a>&#x10FFFF;&#9;</a>", "\u{10FFFF}\t"), ("<a><![CDATA[]]>1<![CDATA[]]></a>", "1"),
            ("<_ b:c='1' xmlns:b='u'>1</_>", "1"),
        ])
    func wellFormed(text: String, value: String) throws {
        #expect(try XMLTree(text).text == value)
    }

    @Test("an attribute and a child of the same name are both found, and a child may have its parent's name")
    func sameNames() throws {
        let line = try XMLTree(#"<barline coda="name-1"><coda id="1">c</coda></barline>"#)
        #expect(line.attribute("coda") == "name-1" && line["coda"]?.attribute("id") == "1" && line["coda"]?.text == "c")
        let nested = try XMLTree("<document><element>text1<element>text2</element></element></document>")
        let outer = try #require(nested["element"])
        #expect(
            outer.content.first == .text("text1") && outer["element"]?.text == "text2" && outer.text == "text1text2")
        #expect(nested.all("element").count == 1)
    }

    @Test("elements of a list have text, CDATA sections, references or all of these")
    func mixedList() throws {
        let list = try XMLTree(
            """
            <c><data><![CDATA[lorem ipsum]]></data><data>bla bla</data><data>&#9835;</data><data> &#32;&amp; </data>\
            <data>a<![CDATA[ & ]]>&lt;b&gt; <![CDATA[]]></data><data>dude &amp; &lt;dudette&gt;</data></c>
            """)
        #expect(
            list.all("data").map(\.text)
                == ["lorem ipsum", "bla bla", "\u{266B}", "  & ", "a & <b> ", "dude & <dudette>"])
    }
}
