import ErrandHTTP
import Testing

@Suite("Headers", .leakChecked) struct HeaderTests {
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

    @Test("a dictionary becomes fields in the order of their names, credentials among them sensitive")
    func dictionary() {
        let fields = ["os": "ios", "Authorization": "canary", "app": "7"]
        let headers = HTTPHeaders(fields)
        #expect(headers.map(\.name.rawName) == ["Authorization", "app", "os"] && headers["OS"] == "ios")
        #expect(!headers.description.contains("canary"))
    }
}
