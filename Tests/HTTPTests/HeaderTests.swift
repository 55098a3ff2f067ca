import ErrandEssentials
import ErrandHTTP
import Testing

@Suite("Headers", .leakChecked) struct HeaderTests {
    @Test("a field replaces all fields of its name, and the name's mark is kept") func fieldReplacesItsName() {
        var headers: HTTPHeaders = ["A": "1", "X-Key": "2", "B": "3", "x-key": "4"]
        headers.set(HTTPHeaders.Field("X-KEY", "5", sensitive: true).checked)
        #expect(headers.map(\.name.rawName) == ["A", "X-KEY", "B"])
        #expect(headers["X-Key"] == "5" && headers[1].isSensitive)
        headers.set(HTTPHeaders.Field("X-Key", "6"))
        #expect(headers[1].value == "6" && headers[1].isSensitive)
        headers.set(HTTPHeaders.Field("C", "7"))
        #expect(headers.count == 4 && headers[3].value == "7" && !headers[3].isSensitive)
    }

    @Test("isOnly holds if the name has a single field, with the same value and mark") func fieldIsAlone() {
        let (field, secret) = (HTTPHeaders.Field("X-Key", "1"), HTTPHeaders.Field("x-key", "1", sensitive: true))
        var headers: HTTPHeaders = ["A": "1"]
        #expect(!headers.isOnly(field))
        headers.set(field)
        #expect(headers.isOnly(field) && !headers.isOnly(secret) && !headers.isOnly(HTTPHeaders.Field("X-Key", "2")))
        headers.set(secret)
        #expect(headers.isOnly(secret) && !headers.isOnly(field))
        headers.add("X-Key", "1")
        #expect(!headers.isOnly(secret))
    }

    @Test("values are compared and replaced byte by byte") func composition() {
        var headers: HTTPHeaders = ["X-A": "\u{E9}"]
        #expect(headers != ["X-A": "e\u{301}"] && headers == ["x-a": "\u{E9}"])
        headers.set("X-A", "e\u{301}")
        #expect(headers["X-A"].map { Array($0.utf8) } == [0x65, 0xCC, 0x81])
        headers.set(HTTPHeaders.Field("X-A", "\u{E9}"))
        #expect(headers["X-A"].map { Array($0.utf8) } == [0xC3, 0xA9])
    }

    @Test("a field that is or becomes invalid is refused even if it was marked as checked")
    func checkedFieldIsRefused() throws {
        let url = try #require(URL(string: "https://example.com/"))
        var field = HTTPHeaders.Field("A", "1").checked
        for bad in [HTTPHeaders.Field("A B", "1").checked, HTTPHeaders.Field("A", "1\n").checked] {
            #expect(throws: ErrandError.self) { try HTTPRequest(.get, url, headers: HTTPHeaders([bad])).validate() }
        }
        try HTTPRequest(.get, url, headers: HTTPHeaders([field])).validate()
        field.value = "1\r"
        #expect(throws: ErrandError.self) { try HTTPRequest(.get, url, headers: HTTPHeaders([field])).validate() }
    }

    @Test("headers keep order and case, compare without case, and mask secrets")
    func headers() {
        var headers: HTTPHeaders = ["B": "1", "a": "2", "b": "3"]
        #expect(headers["B"] == "1, 3" && headers.values(of: "b") == ["1", "3"] && headers["c"] == nil)
        headers["b"] = "4"
        #expect(headers.map(\.name.rawName) == ["B", "a"] && headers["B"] == "4")
        headers.add("Set-Cookie", "canary")
        headers.set("X-Key", "canary", sensitive: true)
        headers["x-key"] = "canary2"
        #expect(!headers.description.contains("canary") && !String(reflecting: headers).contains("canary"))
        #expect(headers.description.contains("X-Key: •••"))
        headers.merge(["X-KEY": "canary3", "A": "5"])
        #expect(!headers.description.contains("canary"))
        #expect(headers["x-key"] == "canary3" && headers["a"] == "5" && headers.count == 4)
        headers["a"] = nil
        #expect(!headers.contains("A"))
        #expect((["X": "canary"] as HTTPHeaders).sensitive("x").description == "X: •••")
    }

    @Test("a dictionary becomes fields sorted by name, with credentials marked as sensitive")
    func dictionary() {
        let fields = ["os": "ios", "Authorization": "canary", "app": "7"]
        let headers = HTTPHeaders(fields)
        #expect(headers.map(\.name.rawName) == ["Authorization", "app", "os"] && headers["OS"] == "ios")
        #expect(!headers.description.contains("canary"))
    }

    @Test("names are equal in any case of ASCII letters, and the dotless letters of Turkish are other letters")
    func dotlessLetters() {
        let headers: HTTPHeaders = ["CONTENT-ID": "1", "TRANSFER-ENCODING": "CHUNKED"]
        #expect(headers["content-id"] == "1" && headers[.transferEncoding] == "CHUNKED")
        #expect(headers["Content-\u{131}d"] == nil && headers["CONTENT-\u{130}D"] == nil)
    }
}
