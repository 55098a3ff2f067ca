import ErrandHTTPSyntax
import Testing

@Suite("One import") struct OneImportTests {
    @Test("the grammar module exports the types of all its parts, with their members")
    func types() throws {
        #expect(URLSyntax.isAbsolute("https://example.com/"))
        #expect(MediaType.essence(of: "Text/HTML; charset=utf-8") == "text/html")
        #expect(EntityTag(parsing: #"W/"1""#)?.isWeak == true)
        #expect(try StructuredField.List(parsing: "a, b").members.count == 2)
        var tokens = JSONTokenizer(Array("[1".utf8), isComplete: false)
        let kind = tokens.next()?.kind
        #expect(kind == .openBracket)
    }

    @Test("a type is also found under the name of the module")
    func qualifiedTypes() {
        #expect(ErrandHTTPSyntax.ASCII.isToken(UInt8(ascii: "a")))
        #expect(ErrandHTTPSyntax.ByteRange.self == ByteRange.self)
        #expect(ErrandHTTPSyntax.JSONNumber.self == JSONNumber.self)
    }
}
