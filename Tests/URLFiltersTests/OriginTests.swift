import Errand
import ErrandEssentials
import ErrandTesting
import ErrandURLFilters
import Testing

@Suite("Secrets and origins", .leakChecked) struct OriginTests {
    private static func secret(_ name: HTTPHeaderName) -> HTTPHeaders {
        var headers: HTTPHeaders = ["X-App": "shop"]
        headers.set(name, "canary", sensitive: true)
        return headers
    }

    @Test(
        "tokens, signatures and parameters of filters do not go to another origin than the agent's",
        arguments: ["https://evil.example/next?page=2", "http://example.com/next?page=2"])
    func foreign(url: String) async throws {
        let bench = Bench(
            "https://example.com",
            .urls(
                .query(["token": "canary"], inCacheKey: false),
                .query(inCacheKey: false) { _ in ["t": "canary"] }, .query(["key": "canary"], toAnyOrigin: false),
                .sign(key: "k")),
            .headers(Self.secret("X-Token")), .headers(signedBy: Signer(key: "k", signature: "X-Sign")),
            .body(["token": "canary"]), .body(signedBy: Signer(key: "k")))
        let sent = try await bench.sent(Call(.post, url))
        #expect(sent.url.absoluteString == url)
        #expect(sent.headers["X-App"] == "shop" && sent.headers["X-Token"] == nil && sent.headers["X-Sign"] == nil)
        #expect(sent.body.isNone)
        let own = try await bench.sent(Call(.post, "https://EXAMPLE.com:443/next"))
        #expect(own.url.absoluteString.contains("token=canary") && own.url.absoluteString.contains("sign="))
        #expect(own.headers["X-Token"] == "canary" && own.headers["X-Sign"] != nil && !own.body.isNone)
    }

    @Test("harmless values may be sent to any origin")
    func harmless() async throws {
        let bench = Bench(
            "https://example.com", .urls(.query(["v": "3"], toAnyOrigin: true)),
            .body(["v": 3], toAnyOrigin: true))
        let sent = try await bench.sent(Call(.post, "https://other.example/x"))
        #expect(sent.url.absoluteString == "https://other.example/x?v=3" && !sent.body.isNone)
    }

    @Test("a request's own header keeps the filter's mark, whichever rule merges them")
    func marks() async throws {
        for rule in [MergeRule.keep, .append, .replace] {
            let bench = Bench("https://example.com", .headers(Self.secret("X-Token"), merge: rule))
            for path in ["users", "https://evil.example/x"] {
                var call = Call(.get, path)
                call.headers = ["x-token": "canary"]
                let headers = try await bench.sent(call).headers
                #expect(headers.contains("X-Token") && !headers.description.contains("canary"), "\(rule)")
            }
        }
    }

    @Test("an absolute URL of the environment's own origin gets the agent's credentials, another does not")
    func environments() async throws {
        let environments = try ServiceEnvironments(
            ["live": ServiceConfiguration(baseURL: "https://live.example/api")], selected: "live")
        let stub = StubTransport(.text("ok"))
        var configuration = AgentConfiguration(baseURL: environments.baseURL)
        configuration.authorization = .bearer("canary")
        configuration.filters = [.environment(environments), .urls(.query(["token": "canary"], inCacheKey: false))]
        let agent = NetworkAgent(configuration: configuration, transport: stub)
        for (path, isKept) in [("users", true), ("https://live.example/next", true), ("https://evil.example/x", false)]
        {
            _ = try await agent.send(Call(.get, path))
            let sent = try #require(stub.received.last)
            #expect(sent.headers.contains(.authorization) == isKept, "\(path)")
            #expect(sent.url.absoluteString.contains("canary") == isKept, "\(path)")
        }
    }

    @Test("a segment that would leave its place is refused in the paths of filters, too")
    func segments() async throws {
        for value in ["..", ".", "", "%2e%2E"] {
            let bench = Bench(
                "https://example.com",
                .urls(
                    .edit("tenant") { url, _ in
                        try url.prefixPath("/tenants/\(segment: value)")
                    }))
            #expect((try await bench.failure() as? URLFilterError)?.code == .invalidURL, "\(value)")
            #expect(bench.stub.received.isEmpty)
        }
    }

    @Test("a base of an environment or a CDN with a query is refused instead of losing it")
    func queries() async throws {
        for base in ["https://live.example/api?key=canary", "https://live.example/#x"] {
            #expect(throws: URLFilterError.self) {
                try ServiceEnvironments(["live": ServiceConfiguration(baseURL: base)], selected: "live")
            }
            let bench = Bench("https://example.com", .urls(.cdn(base)))
            #expect((try await bench.failure() as? URLFilterError)?.code == .invalidURL)
        }
    }

    @Test("a CDN that the agent does not trust gets neither secret items of the list nor the request's credentials")
    func secrets() async throws {
        let token = QueryFilter.query(["token": "canary"], inCacheKey: false)
        for filters: [any URLFilter] in [
            [token, .cdn("https://cdn.example.com")], [.cdn("https://cdn.example.com"), token],
            [
                .query(["v": "3"]), token, .cdn("https://cdn.example.com"),
                .query(["time": "1"], inCacheKey: false, toAnyOrigin: true),
            ],
        ] {
            var call = Call(.get, "a?b=1")
            call.headers = ["Authorization": "canary", "X-Open": "open"]
            let untrusted = try await Bench("https://example.com", .urls(filters)).sent(call)
            #expect(untrusted.url.host == "cdn.example.com" && !untrusted.urlText.contains("canary"))
            #expect(untrusted.urlText.contains("a?b=1") && untrusted.urlText.contains("v=3") == (filters.count == 4))
            #expect(untrusted.headers["X-Open"] == "open" && !untrusted.headers.contains(.authorization))
            let trusted = try await Bench("https://example.com", cdn: "https://cdn.example.com", .urls(filters)).sent(
                call)
            #expect(trusted.urlText.contains("token=canary") && trusted.headers.contains(.authorization))
        }
    }
}
