import Testing

@testable import ErrandInspector

@Suite("The server's parser") struct PageRequestTests {
    @Test("a request is the same at every split, and incomplete before its end")
    func splits() throws {
        let text = Array(
            "POST /tools?a=1&b= HTTP/1.1\r\nHost: a\r\nX-Long:\t value \r\nContent-Length: 5\r\n\r\nhelloGET".utf8)
        let whole = try #require(try PageRequest.parse(text))
        #expect(whole.length == text.count - 3 && whole.request.body == Array("hello".utf8))
        #expect(whole.request.method == "POST" && whole.request.path == "/tools" && whole.request.item("a") == "1")
        #expect(
            whole.request.item("b") == "" && whole.request.item("c") == nil && whole.request.field("x-long") == "value")
        for end in 0..<whole.length { #expect(try PageRequest.parse(Array(text[..<end])) == nil) }
        for end in whole.length...text.count {
            #expect(try PageRequest.parse(Array(text[..<end]))?.request == whole.request)
        }
    }

    @Test("random bytes are refused or incomplete, and never crash")
    func garbage() {
        var state: UInt64 = 7
        func next() -> UInt8 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
        let pieces = [
            "GET / HTTP/1.1\r\nHost: a\r\n", "GET ", "/", " HTTP/1.1", "\r\n", "Host: a", "\r\n\r\n", ":", " ",
            "Content-Length: ", "9", "\n", "\r",
        ]
        var requests = 0
        for _ in 0..<20_000 {
            var text: [UInt8] = []
            for _ in 0..<(next() % 12) {
                if next() % 8 == 0 { text.append(next()) } else { text += pieces[Int(next()) % pieces.count].utf8 }
            }
            if let parsed = try? PageRequest.parse(text) {
                requests += 1
                #expect(parsed.length <= text.count)
            }
        }
        #expect(requests > 0)
    }

    @Test("a secret matches only itself")
    func secrets() {
        for (given, matches) in [
            ("abc", true), ("abd", false), ("ab", false), ("abcd", false), ("", false), ("abcabc", false),
            ("ABC", false),
        ] { #expect(PageSecrets.matches(given, "abc") == matches, "\(given)") }
        #expect(!PageSecrets.matches("", "a"))
        let (one, other) = (PageSecrets(), PageSecrets())
        #expect(one.token.utf8.count == 48 && Set([one.token, one.cookie, other.token, other.cookie]).count == 4)
        #expect("\(one)" == "PageSecrets")
    }
}
