import Errand
import ErrandEssentials
import ErrandSystemTransport
import ErrandTesting
import ErrandURLFilters
import Testing

@Suite("URL filters", .endsInTime, .leakChecked)
struct URLFilterTests {
    @Test("a filter adds a query item that the server receives")
    func argument() async throws {
        let server = try TestServer { request in .text(request.target) }
        let agent = NetworkAgent(
            baseURL: server.url, transport: .system, filters: [.urls(.query(["key": "value"]))])
        #expect(try await agent.send(Text(path: "get")).value == "/get?key=value")
    }

    @Test("filters run in order, each on the previous result, and receive the request")
    func order() async throws {
        let bench = Bench(
            "https://example.com",
            .urls(
                .closure("one") { url, exchange in
                    #expect(exchange.request is Call)
                    return url.appending(path: "1")
                }, .edit("two") { url, _ in try url.setPath(url.path + "/2") }, .path { path, _ in path + "/3" },
                .query(["q": "4"])), .urls(.query(["q": "5"])))
        #expect(try await bench.url("a") == "https://example.com/a/1/2/3?q=4&q=5")
    }

    @Test("filters also run on absolute URLs and complete requests, which skip the base and the CDN")
    func absolute() async throws {
        let bench = Bench("https://example.com/v1", cdn: "https://cdn.example.com", .urls(.query(["v": "3"])))
        #expect(try await bench.url("http://other.example/x?a=1#f") == "http://other.example/x?a=1&v=3#f")
        var call = Call(.get, "https://other.example/x")
        call.base = .cdn
        #expect(try await bench.sent(call).url.absoluteString == "https://other.example/x?v=3")
        #expect(try await bench.sent(Complete()).url.absoluteString == "https://complete.example/y?v=3")
    }

    @Test("the base is the request's or the agent's, the CDN never falls back to it, and filters see both")
    func bases() async throws {
        var call = Call(.get, "a")
        let bench = Bench("https://example.com/v1", cdn: "https://cdn.example.com/c", .urls(.query(["v": "3"])))
        #expect(try await bench.sent(call).url.absoluteString == "https://example.com/v1/a?v=3")
        call.base = .cdn
        #expect(try await bench.sent(call).url.absoluteString == "https://cdn.example.com/c/a?v=3")
        call.base = .url("https://own.example.com")
        #expect(try await bench.sent(call).url.absoluteString == "https://own.example.com/a?v=3")
        let without = Bench("https://example.com/v1", .urls(.query(["v": "3"])))
        call.base = .cdn
        #expect((try await without.failure(call) as? ErrandError)?.code == .invalidURL)
    }

    @Test("filters can be added and removed while the agent lives, and its list is a copy")
    func configured() async throws {
        let bench = Bench("https://example.com", .closure { try await $1($0) })
        bench.agent.configure { $0.filters.append(.urls(.query(["v": "3"]))) }
        #expect(try await bench.url("a") == "https://example.com/a?v=3")
        var copy = bench.agent.configuration.filters
        copy.removeAll()
        #expect(bench.agent.configuration.filters.count == 2)
        bench.agent.configure { $0.filters.removeAll { $0 is URLFilterChain } }
        #expect(try await bench.url("a") == "https://example.com/a")
    }

    @Test("a request or a call can skip all filters or some by name")
    func exemptions() async throws {
        let bench = Bench(
            "https://example.com", .urls(.query(["v": "3"]), .query(["t": "4"], name: "token")),
            .headers(["X-App": "shop"]), .body(["app": "shop"]))
        func exempt(_ exemption: FilterExemption) -> Tags { Tags().with(FilterExemption.self, exemption) }
        #expect(try await bench.url("a") == "https://example.com/a?v=3&t=4")
        #expect(try await bench.url("a", tags: exempt(.all)) == "https://example.com/a")
        #expect(try await bench.url("a", tags: exempt(["token"])) == "https://example.com/a?v=3")
        #expect(try await bench.url("a", tags: exempt(.none)) == "https://example.com/a?v=3&t=4")
        #expect(try await bench.sent(Exempt()).url.absoluteString == "https://example.com/a")
        var some = PartlyExempt()
        #expect(try await bench.sent(some).url.absoluteString == "https://example.com/a?t=4")
        #expect(
            try await bench.sent(some, tags: exempt(["token"])).url.absoluteString == "https://example.com/a")
        #expect(try await bench.sent(some).headers["X-App"] == "shop")
        some.filterExemption = ["headers", "body"]
        some.method = .post
        let sent = try await bench.sent(some)
        #expect(sent.headers["X-App"] == nil && sent.body.isNone)
        #expect(try await bench.sent(Exempt(method: .post)).body.isNone)
    }

    @Test(
        "an invalid URL from a filter throws an error that names the filter",
        arguments: [
            ("relative/path?token=hush", URLFilterError.Code.relativeURL), ("//host/x", .relativeURL),
            ("ftp://example.com/x", .schemeChanged), ("mailto:a@example.com", .schemeChanged),
            ("http://example.com/x", .schemeChanged), ("https://user:hush@example.com/x", .credentialsInURL),
            ("https://hush@example.com/x", .credentialsInURL), ("https:///x", .invalidURL),
        ])
    func refused(text: String, code: URLFilterError.Code) async throws {
        let bench = Bench(
            "https://example.com",
            .urls(.query(["a": "1"]), .closure("broken") { _, _ in try #require(URL(string: text)) }))
        let error = try #require(try await bench.failure() as? URLFilterError)
        #expect(error.code == code)
        #expect(error.filter == "broken")
        #expect(error.description.contains("\"broken\""))
        #expect(!"\(error)".contains("hush") && !String(reflecting: error).contains("hush"))
        #expect(bench.stub.received.isEmpty)
    }

    @Test("http can become https, and an error of a filter's own code is thrown unchanged")
    func passed() async throws {
        let bench = Bench(
            "http://example.com",
            .urls(.closure("secure") { url, _ in try #require(URL(string: "https" + url.absoluteString.dropFirst(4))) })
        )
        #expect(try await bench.url("a?b") == "https://example.com/a?b")
        let failing = Bench("https://example.com", .urls(.edit("own") { _, _ in throw Bench.Missing() }))
        #expect(try await failing.failure() is Bench.Missing)
    }

    @Test("an invalid path or parameter throws an error that names the filter")
    func malformed() async throws {
        let filters: [(any URLFilter, URLFilterError.Code)] = [
            (.prefix("/a b", name: "f"), .invalidURL), (.prefix("/a?b", name: "f"), .invalidURL),
            (.path("/users", with: "/%zz", name: "f"), .invalidURL), (.path(name: "f") { _, _ in "/#" }, .invalidURL),
            (.query(["a": .encoded("%")], name: "f"), .invalidParameters),
            (.query(name: "f") { _ in ["a": .encoded("x&y")] }, .invalidParameters),
            (.cdn("cdn", name: "f"), .relativeURL),
            (.cdn("http://cdn.example.com", name: "f"), .schemeChanged),
            (.cdn("https://u:p@cdn.example.com", name: "f"), .credentialsInURL),
        ]
        for (filter, code) in filters {
            let error = try #require(try await Bench("https://example.com", .urls(filter)).failure() as? URLFilterError)
            #expect(error.code == code)
            #expect(error.filter == "f")
        }
    }

    @Test("a failure after the filters contains the request as they changed it")
    func evidence() async throws {
        let stub = StubTransport { _ in throw ErrandError(.connectionLost, "the cable was pulled") }
        let agent = NetworkAgent(
            baseURL: "https://example.com", transport: stub, filters: [.urls(.query(["v": "3"]))])
        let error = await #expect(throws: ErrandError.self) { try await agent.send(Call()) }
        #expect(error?.request?.url.absoluteString == "https://example.com/users?v=3")
    }

    @Test("a failure after a redirect contains the request of that hop")
    func evidenceOfHop() async throws {
        let stub = StubTransport { request in
            guard request.url.path == "/users" else { throw ErrandError(.cannotConnect, "nobody listens") }
            return .redirect(to: "https://other.example/x")
        }
        let filters: [any Filter] = [
            .urls(.query(["v": "3"])), .headers(["X-A": "1"]), .body(["a": "1"]),
        ]
        for filter in filters {
            let agent = NetworkAgent(baseURL: "https://example.com", transport: stub, filters: [filter])
            let error = await #expect(throws: ErrandError.self) { try await agent.send(Call(.put)) }
            #expect(error?.request?.url.absoluteString == "https://other.example/x", "\(filter)")
        }
    }

    @Test("no description shows a filter's contents")
    func descriptions() {
        let signer = Signer(key: "hush")
        let values: [Any] = [
            QueryFilter(["token": "hush"]), PathFilter(prefix: "/hush"), URLFilterChain([.query(["token": "hush"])]),
            HeaderFilter { _ in ["X": "hush"] }, BodyFilter { _ in ["a": "hush"] }, signer, SigningURLFilter(signer),
            SigningKey("hush"), SecretKey("hush"), CDNFilter("https://hush.example") { _ in true },
            ServiceConfiguration(baseURL: "https://a.example", keys: ["sign": "hush"]),
            Optional(SecretKey("hush")) as Any, ["k": SecretKey("hush")],
        ]
        for value in values {
            var dumped = ""
            dump(value, to: &dumped)
            for text in ["\(value)", String(reflecting: value), dumped] { #expect(!text.contains("hush")) }
        }
        #expect("\(URLFilterChain([.query(["v": "3"]), .prefix("/a")]))" == "URL filters: query, prefix")
    }

    @Test("many concurrent requests each get their own URL")
    func concurrent() async throws {
        let bench = Bench(
            "https://example.com", .urls(.query { exchange in ["n": (exchange.request as? Call)?.path ?? ""] }))
        try await withThrowingTaskGroup { group in
            for index in 0..<200 { group.addTask { _ = try await bench.agent.send(Call(.get, "\(index)")) } }
            try await group.waitForAll()
        }
        let urls = Set(bench.stub.received.map(\.url.absoluteString))
        #expect(urls == Set((0..<200).map { "https://example.com/\($0)?n=\($0)" }))
    }
}

private struct Text: Request {
    typealias Output = String
    var path: String
}

private struct Complete: Request {
    func httpRequest() throws -> HTTPRequest? {
        HTTPRequest(.get, try #require(URL(string: "https://complete.example/y")))
    }
}

private struct Exempt: FilterExemptRequest {
    var method = HTTPMethod.get
    var path: String { "a" }
}

private struct PartlyExempt: FilterExemptRequest {
    var method = HTTPMethod.get
    var path: String { "a" }
    var filterExemption: FilterExemption = ["query"]
}
