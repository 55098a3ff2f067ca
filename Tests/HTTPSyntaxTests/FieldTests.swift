import ErrandEssentials
import ErrandHTTPSyntax
import Testing

@Suite("Fields", .leakChecked) struct FieldTests {
    @Test("lists are split at commas outside of quotes, without empty items")
    func lists() {
        #expect(FieldList.items(#" a ,, "b,\",c" , d;x="1,2","#) == ["a", #""b,\",c""#, #"d;x="1,2""#])
        #expect(FieldList.items(["a,b", "c"]) == ["a", "b", "c"])
        #expect(FieldList.allItems(",a") == ["", "a"])
        #expect(FieldList.contains("GZIP", in: "deflate, gzip") && !FieldList.contains("zip", in: "gzip"))
    }

    @Test("parameters are read with quotes, escapes and blanks, and the first of several with a name counts")
    func parameters() {
        let parameters = FieldParameters(parsing: #"; A=1 ;b = "x;\"y" ; c; =d; a=2;e="open"#)
        #expect(parameters.all.map(\.name) == ["a", "b", "a", "e"])
        #expect(parameters["A"] == "1" && parameters["b"] == #"x;"y"# && parameters["e"] == "open")
        #expect(FieldParameters([.init("T", "a b"), .init("q", "1")]).description == #"; t="a b"; q=1"#)
        #expect(FieldParameters(parsing: String(repeating: ";a=b", count: 100_000)).all.count == 64)
        #expect(QuotedString.content(#""a\"b""#) == #"a"b"#)
        #expect(QuotedString.content(#""a"#) == nil && QuotedString.content(#""a"b"#) == nil)
        #expect(QuotedString.content(#""a\""#) == nil && QuotedString.content("a") == nil)
        #expect(QuotedString.quoted("a\"\r\nb") == #""a\"  b""#)
        #expect(QuotedString.quoted("a b") == "\"a b\"" && QuotedString.quoted("") == "\"\"")
        #expect(QuotedString.quoted("ü\u{7F}\t\\") == "\"ü \t\\\\\"")
    }

    @Test("media types are read with any case, parameters and suffixes")
    func mediaTypes() throws {
        let type = try #require(MediaType(parsing: "Application/Problem+JSON ; Charset=\"utf-8\""))
        #expect(type.essence == "application/problem+json" && type.type == "application")
        #expect(type.subtype == "problem+json" && type.suffix == "json" && type.parameters["charset"] == "utf-8")
        #expect(type.description == "application/problem+json; charset=utf-8")
        #expect(MediaType(parsing: "image/png")?.suffix == nil)
        #expect(MediaType(parsing: "a+b/c")?.suffix == nil)
        for text in ["", "text", "/html", "text/", "a/b/c", "a b/c", "text, html", ", ", ";charset=x", "té/xt"] {
            #expect(MediaType.essence(of: text) == nil, "\(text)")
        }
    }

    @Test(
        "if Content-Type is repeated, the last valid type counts, with the charset of an equal earlier type",
        arguments: [
            ("text/html, text/html", "text/html"), ("text/plain, text/html", "text/html"),
            ("text/html, nonsense", "text/html"), ("nonsense, text/html", "text/html"), ("text/html, */*", "text/html"),
            ("text/html;charset=gbk, text/html", "text/html; charset=gbk"),
            ("text/html;charset=gbk, text/plain", "text/plain"),
            ("text/html;charset=gbk, text/plain, text/html", "text/html"),
            ("text/html;charset=gbk, text/html;charset=utf-8", "text/html; charset=utf-8"),
            ("text/html;charset=gbk, x, text/html;a=b", "text/html; a=b; charset=gbk"),
            ("text/html;charset=gbk,text/html, ,text/html", "text/html; charset=gbk"),
            (#"multipart/mixed; boundary="a, b/c""#, #"multipart/mixed; boundary="a, b/c""#),
            (#"text/html; a="x, text/plain"#, #"text/html; a="x, text/plain""#),
            ("text/html; charset=utf-8, text", "text/html; charset=utf-8"),
            ("text/html;charset=gbk, text/html;charset=", "text/html; charset=gbk"),
            ("text/plain; charset=; charset=gbk", "text/plain; charset=gbk"),
            ("text/plain; charset=  ; x=1", "text/plain; x=1"),
            ("text/plain; charset=\"\"; charset=gbk", "text/plain; charset=\"\"; charset=gbk"),
        ])
    func repeatedType(text: String, expected: String) throws {
        let type = try #require(MediaType(parsing: text))
        #expect(type.description == expected)
        #expect(MediaType.essence(of: text) == type.essence)
    }

    @Test(
        "a backslash in the quotes of a form's part is literal, and a quote at the end of the field ends the name",
        arguments: [
            (#"form-data; name="f"; filename="C:\dir\new.txt""#, #"C:\dir\new.txt"#),
            (#"form-data; name="f"; filename="C:\dir\""#, #"C:\dir\"#),
            (#"form-data; filename="\"; name="f""#, #"\"#), (#"form-data; filename="a\"b"; name="f""#, #"a"b"#),
            (#"Form-Data; filename="a\" ; name="f""#, #"a\"#), (#"attachment; filename="a\"b\\c""#, #"a"b\c"#),
            (#"form-data; filename="open\"#, #"open\"#),
        ])
    func formParameters(text: String, fileName: String) {
        let disposition = ContentDisposition(parsing: text)
        #expect(disposition.fileName == fileName)
        if text.contains("name=\"f\"") { #expect(disposition.parameters["name"] == "f") }
    }

    @Test("control characters, line separators and bidirectional marks are escaped, everything else stays")
    func controls() {
        #expect(ControlCharacters.escaped("plain ~") == "plain ~")
        #expect(
            ControlCharacters.escaped("a\r\nb\t\u{1B}[2J\u{9B}\u{7F}\u{2028}\u{202E}")
                == #"a\u{D}\u{A}b\u{9}\u{1B}[2J\u{9B}\u{7F}\u{2028}\u{202E}"#)
        #expect(
            ControlCharacters.escaped("é\n\t\r日\u{1F468}\u{200D}\u{1F469}", allowsLines: true)
                == "é\n\t\\u{D}日\u{1F468}\u{200D}\u{1F469}")
    }

    @Test("each character is escaped if and only if it's a control, a separator or sets a direction")
    func everyControlCharacter() {
        let escaped: [ClosedRange<UInt32>] = [
            0...0x1F, 0x7F...0x9F, 0x61C...0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069,
        ]
        for scalar in (0...0x2FFFF as ClosedRange<UInt32>).lazy.compactMap(Unicode.Scalar.init) {
            let text = "→\(scalar)"
            let code = "→\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
            let isEscaped = escaped.contains { $0.contains(scalar.value) }
            let isLine = scalar == "\n" || scalar == "\t"
            guard ControlCharacters.escaped(text) == (isEscaped ? code : text),
                ControlCharacters.escaped(text, allowsLines: true) == (isEscaped && !isLine ? code : text)
            else {
                Issue.record("U+\(String(scalar.value, radix: 16))")
                continue
            }
        }
    }

    @Test("entity tags are compared weakly and strongly, read from lists, and refused if invalid")
    func entityTags() throws {
        let weak = try #require(EntityTag(parsing: "W/\"1\""))
        let strong = try #require(EntityTag(parsing: "\"1\""))
        #expect(weak.matchesWeakly(strong) && !weak.matchesStrongly(strong) && strong.matchesStrongly(strong))
        #expect(weak.description == "W/\"1\"" && EntityTag("a\"b") == nil && EntityTag("")?.description == "\"\"")
        for text in ["1", "\"", "w/\"1\"", "\"a\"b\"", "\"a\n\"", "W/1", ""] {
            #expect(EntityTag(parsing: text) == nil)
        }
        let (composed, decomposed) = (try #require(EntityTag("\u{E9}")), try #require(EntityTag("e\u{301}")))
        #expect(composed != decomposed && !composed.matchesWeakly(decomposed) && !composed.matchesStrongly(decomposed))
        let condition = try #require(EntityTagCondition(parsing: #"W/"1", "a,b", x"#))
        #expect(condition.matchesWeakly(strong) && !condition.matchesStrongly(strong))
        #expect(condition.matchesStrongly(try #require(EntityTag("a,b"))))
        #expect(EntityTagCondition(parsing: " * ") == .any && EntityTagCondition(parsing: "x") == nil)
    }

    @Test("a backslash in an entity tag isn't an escape, even in a list (RFC 9110, section 8.8.3)")
    func entityTagsWithBackslash() throws {
        let tags = ["a\\", ", b, ", "\\", "c\\d"].compactMap { EntityTag($0) }
        let text = tags.map(\.description).joined(separator: ", ")
        #expect(text == #""a\", ", b, ", "\", "c\d""#)
        #expect(EntityTagCondition(parsing: text) == .tags(tags))
        #expect(EntityTagCondition(parsing: #"W/"x\",,"y""#)?.matchesStrongly(try #require(EntityTag("y"))) == true)
        #expect(EntityTagCondition(parsing: #""a\"b", "c""#) == nil)
    }

    @Test("ranges are read, resolved and refused as RFC 9110 specifies")
    func ranges() {
        #expect(ByteRange.parse("bytes=0-499, -5 ,9500-") == [.closed(0, 499), .suffix(5), .from(9500)])
        for text in [
            "bytes=", "bytes", "items=0-1", "bytes=5-4", "bytes=a-b", "bytes=-", "bytes=+1-2", "bytes=0-1;2-3",
        ] {
            #expect(ByteRange.parse(text) == nil, "\(text)")
        }
        #expect(ByteRange.closed(0, .max).resolved(length: 10) == 0..<10)
        #expect(
            ByteRange.closed(10, 12).resolved(length: 10) == nil && ByteRange.from(3).resolved(length: 10) == 3..<10)
        #expect(ByteRange.suffix(20).resolved(length: 10) == 0..<10 && ByteRange.suffix(0).resolved(length: 10) == nil)
        #expect(ByteRange.parse("bytes=" + String(repeating: "0-1,", count: 65)) == nil)
        #expect(ContentRange(parsing: "bytes 7-9/10") == .part(first: 7, last: 9, total: 10))
        #expect(ContentRange(parsing: "Bytes 7-9/*") == .part(first: 7, last: 9, total: nil))
        #expect(ContentRange(parsing: "bytes */10") == .unsatisfied(total: 10))
        let wrong = [
            "bytes 7-9/9", "bytes 9-7/10", "bytes */*", "bytes 7-9", "x 7-9/10", "bytes -1-2/3",
            "bytes 0-9223372036854775807/*",
        ]
        for text in wrong { #expect(ContentRange(parsing: text) == nil, "\(text)") }
    }

    @Test("a Content-Length counts only if all values are equal")
    func lengths() {
        #expect(ContentLength.parse(["5"]) == 5 && ContentLength.parse(["5, 5", "5"]) == 5)
        for values in [[], ["5,6"], ["+5"], ["-5"], ["5,"], [""], ["0x5"], ["9223372036854775808"], ["５"]] {
            #expect(ContentLength.parse(values) == nil, "\(values)")
        }
    }

    @Test("dispositions prefer encoded names, don't decode them in quotes, and read back what they write")
    func dispositions() {
        func name(_ text: String) -> String? { ContentDisposition(parsing: text).fileName }
        #expect(name(#"attachment; filename="a;b\".txt""#) == #"a;b".txt"#)
        #expect(name("attachment; filename=a.txt; filename*=UTF-8'en'%c3%a4.txt") == "ä.txt")
        #expect(name(#"attachment; filename*="UTF-8''x"; filename=b"#) == "b")
        #expect(name("attachment; filename*=iso-8859-1''%e4; filename=b") == "ä")
        #expect(name("attachment; filename*=UTF-8''%ff; filename=b") == "b")
        #expect(name("filename=c") == "c" && name("inline") == nil && name("inline; filename=") == nil)
        for text in ["ä\"b%.txt", "a b.txt", "文件.pdf", "x'y*z.txt"] {
            #expect(name(ContentDisposition(fileName: text).description) == text)
        }
        #expect(ExtendedValue.encode("a b*") == "UTF-8''a%20b%2A")
        #expect(ExtendedValue.decode("UTF-8'a") == nil && ExtendedValue.decode("koi8-r''a") == nil)
        #expect(ExtendedValue.decode("ISO-8859-1''%80%E9%93") == "€é“")
        #expect(ExtendedValue.decode("us-ascii''a%80") == nil && ExtendedValue.decode("UTF-8''a%0") == nil)
    }

    @Test("links are read with relations, commas in targets and quotes, and titles, and are resolved")
    func links() throws {
        let links = LinkValue.parse([
            #"<https://a.test/?page=2,3>; rel="Next  last"; title*=UTF-8''%c3%a4; title="x", </up;x>;rel=up;rel=no"#,
            #"nonsense, <x> ; title="a, <b>; rel=c", <bad target>; rel=d"#,
        ])
        #expect(links.map(\.target) == ["https://a.test/?page=2,3", "/up;x", "x", "bad target"])
        #expect(links[0].relations == ["next", "last"] && links[0].title == "ä")
        #expect(links[1].relations == ["up"] && links[2].title == "a, <b>; rel=c")
        let base = try #require(URL(string: "https://b.test/v1/items?page=1"))
        #expect(links[1].url(relativeTo: base)?.absoluteString == "https://b.test/up;x")
        #expect(links[3].url(relativeTo: base)?.absoluteString == "https://b.test/v1/bad%20target")
        #expect(links[0].url(relativeTo: base)?.absoluteString == "https://a.test/?page=2,3")
        #expect(LinkValue.parse(["<", "<a", "", ">;rel=x"]).isEmpty)
        #expect(LinkValue.parse([String(repeating: "<a>,", count: 1000)]).count == 256)
        #expect(links[2].description == #"<x>; title="a, <b>; rel=c""#)
    }

    @Test("Retry-After is read as seconds or any date, including past dates, and nonsense is ignored")
    func retryAfter() throws {
        let now = try #require(HTTPDate.parse("Sun, 06 Nov 1994 08:49:37 GMT"))
        #expect(RetryAfter(parsing: " 120 ") == .delay(.seconds(120)))
        #expect(RetryAfter(parsing: "Sunday, 06-Nov-94 08:50:37 GMT", now: now)?.wait(from: now) == .seconds(60))
        #expect(RetryAfter(parsing: "Sun Nov  6 08:48:37 1994", now: now)?.wait(from: now) == .zero)
        #expect(RetryAfter(parsing: "99999999999999999999999")?.wait(from: now) == .seconds(1 << 32))
        for text in ["", "-1", "1.5", "soon", "+5"] { #expect(RetryAfter(parsing: text) == nil) }
    }

    @Test("percent-encoding is encoded and decoded, strictly and leniently")
    func percentEncoding() {
        #expect(PercentEncoding.encode("a b/ü%") == "a%20b%2F%C3%BC%25")
        #expect(PercentEncoding.decode("a%20b%2f%C3%BC+%25") == "a b/ü+%")
        #expect(PercentEncoding.decode("a+b", plusIsSpace: true) == "a b")
        for text in ["%", "%1", "%gg", "%ff"] { #expect(PercentEncoding.decode(text) == nil) }
        #expect(PercentEncoding.bytes("%ff") == [255])
        #expect(PercentEncoding.decodeLeniently("%41%zz%") == "A%zz%")
        let items = QueryItem.split("a=1&&b&c=x=y&d+e=%20")
        #expect(items.map(\.name) == ["a", "b", "c", "d e"] && items.map(\.value) == ["1", nil, "x=y", " "])
        #expect(items.map(\.description) == ["a=1", "b", "c=x=y", "d+e=%20"])
        #expect(QueryItem.split("").isEmpty && QueryItem.split("", keepingEmpty: true).isEmpty)
        let all = QueryItem.split("&a=1&&b=&", keepingEmpty: true)
        #expect(
            all.map(\.name) == ["", "a", "", "b", ""] && all.map(\.description).joined(separator: "&") == "&a=1&&b=&")
    }

    @Test("bytes are classified, read as digits and trimmed")
    func bytes() {
        #expect(ASCII.digits("007") == 7 && ASCII.digits("") == nil && ASCII.digits("9223372036854775807") == .max)
        #expect(ASCII.digits("9223372036854775808") == nil && ASCII.digits("1a") == nil)
        #expect(ASCII.trimmed("\t a b ") == "a b" && ASCII.trimmed("  ") == "")
        #expect(ASCII.equalsIgnoringCase("Content-TYPE", "content-type") && !ASCII.equalsIgnoringCase("[", "{"))
        let tokens = (UInt8.min...UInt8.max).filter(ASCII.isToken).map { Character(Unicode.Scalar($0)) }
        #expect(String(tokens) == "!#$%&'*+-.0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ^_`abcdefghijklmnopqrstuvwxyz|~")
    }
}
