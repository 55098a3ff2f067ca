import Errand
import ErrandTesting
import ErrandXML
import Foundation
import Testing

/// Elements and charsets that other XML parsers got wrong. Tests/Lessons.md has the reports.
@Suite("Elements and charsets that other XML parsers got wrong", .endsInTime, .leakChecked)
struct ElementReportTests {
    @Test("empty elements count, in a list, alone, and among others")
    func emptyElements() throws {
        #expect(try XMLTree("<container><empty/><empty></empty><empty/></container>").all("empty").count == 3)
        #expect(try XMLTree("<wrapper><empty/></wrapper>")["empty"]?.text == "")
        let tree = try XMLTree(
            "<c><n><t>a</t></n><n><t>a</t><t /><t>b</t></n></c>")
        #expect(tree.all("n").map { $0.all("t").map(\.text) } == [["a"], ["a", "", "b"]])
        #expect(try XMLTree(#"<add-ons type="array"/>"#).all("add-on").isEmpty)
        #expect(try XMLTree(#"<r><add-ons type="array"/></r>"#)["add-ons"]?.all("add-on").isEmpty == true)
    }

    @Test("a charset in the header and in the declaration is decoded once")
    func declaredTwice() async throws {
        let text = "<?xml version=\"1.0\" encoding=\"windows-1251\"?><rss><title>\u{420}\u{443}\u{441}</title></rss>"
        let bytes = Data(text.unicodeScalars.map { $0.isASCII ? UInt8($0.value) : UInt8($0.value - 0x410 + 0xC0) })
        for type in ["text/xml; charset=windows-1251", "text/xml", "application/rss+xml; charset=\"Windows-1251\""] {
            let agent = NetworkAgent(
                baseURL: "https://example.com",
                transport: .stub(StubResponse(headers: ["Content-Type": type], body: bytes)))
            #expect(try await agent.send(Call<XMLTree>(.get, "feed")).value["title"]?.text == "\u{420}\u{443}\u{441}")
        }
    }

    @Test("UTF-8 without a charset, a declaration or a mark is read, wherever its first other character is")
    func lateCharacters() async throws {
        let text = "<feed><title>\(String(repeating: "x", count: 5000))\u{2019}\u{E9}</title></feed>"
        for type in ["text/xml", "application/atom+xml", "application/octet-stream"] {
            let agent = NetworkAgent(
                baseURL: "https://example.com",
                transport: .stub(StubResponse(headers: ["Content-Type": type], body: Data(text.utf8))))
            let tree = try await agent.send(Call<XMLTree>(.get, "feed") { $0.acceptableContentTypes = .any }).value
            #expect(tree["title"]?.text.hasSuffix("x\u{2019}\u{E9}") == true)
        }
    }
}
