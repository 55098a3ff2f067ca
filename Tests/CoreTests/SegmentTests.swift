import Errand
import ErrandEssentials
import ErrandTesting
import Testing

@Suite("Path segments", .leakChecked) struct SegmentTests {
    static let dots = [
        "..", ".", "", "%2e", "%2E%2e", ".%2e", "%2e.", "%252e%252E", "../..", "..\\..", "a/../b", "/..", "./x",
        "..%2fadmin", "%2e%2e%5cadmin", "x/..",
    ]

    @Test("a segment that would change the path's structure is refused before anything is sent", arguments: dots)
    func leaving(value: String) async throws {
        let stub = StubTransport(.text("ok"))
        let agent = NetworkAgent(baseURL: base, transport: stub)
        for path in [
            "users/\(segment: value)/posts", "\(segment: value)/posts", "/users/\(segment: value)",
            "https://api.example.com/\(segment: value)/x", "a/\(segment: "b")/\(segment: value)?q=1#f",
        ] {
            #expect(await code { try await agent.send(Plain { $0.path = path }) } == .invalidURL, "\(value)")
        }
        #expect(stub.received.isEmpty)
    }

    @Test("segments that are dots only together are refused, too")
    func together() async throws {
        for path in [
            "a/\(segment: ".")\(segment: ".")/b", "a/.\(segment: ".")/b", "a/\(segment: ".")./b",
            "a/\(segment: "").\(segment: "")", "a/\(segment: "")\(segment: "")/b", "a/\(segment: "..")\(segment: "")",
            "a/%2e\(segment: ".")",
        ] {
            #expect(await code { try built(Plain { $0.path = path }) } == .invalidURL)
        }
    }

    @Test(
        "values that only resemble dot segments are escaped and sent",
        arguments: [
            ("...", "..."), ("..a", "..a"), (".a", ".a"), ("a..b", "a..b"), (".hidden/x", ".hidden%2Fx"),
            ("a/b", "a%2Fb"), ("a\\b", "a%5Cb"), ("a\u{0}b", "a%00b"), ("\u{E0F1}..\u{E0F2}", "%EE%83%B1..%EE%83%B2"),
            ("50%", "50%25"), ("%2e%2ea", "%252e%252ea"), ("a?b#c", "a%3Fb%23c"), ("a:b@c", "a%3Ab%40c"),
        ])
    func staying(value: String, expected: String) throws {
        let url = try built(Plain { $0.path = "users/\(segment: value)/posts" }).url
        #expect(url.absoluteString == base + "/users/\(expected)/posts")
    }

    @Test("dots and empty values within other text are harmless")
    func beside() throws {
        func path(_ path: String) throws -> String {
            String(try built(Plain { $0.path = path }).url.absoluteString.dropFirst(base.count))
        }
        #expect(try path("v\(segment: "..")/\(segment: "").json") == "/v../.json")
        #expect(try path("\(segment: "a")\(segment: "..")\(segment: "")") == "/a..")
        #expect(try path("list?dir=\(segment: "..")&name=\(segment: "")#\(segment: ".")") == "/list?dir=..&name=#.")
        #expect(try path("a/../b") == "/b")
    }

    @Test("marker characters of segments are refused if a developer wrote them")
    func marks() async throws {
        for path in ["a\u{E0F1}b", "a\u{E0F2}b", "\u{E0F1}a\u{E0F2}\u{E0F2}"] {
            #expect(await code { try built(Plain { $0.path = path }) } == .invalidURL)
        }
        // Outside of a request's path, the marker characters of a segment don't create path components.
        let url = URL(string: "https://e.com/users/\(segment: "..")/posts")
        #expect(url == nil || url?.standardized.path != "/posts")
    }
}
