import Errand
import ErrandEssentials
import ErrandTesting
import ErrandURLFilters
import Testing

private struct Moving: URLFilter {
    static func moved(_ url: URL) throws -> URL {
        try #require(URL(string: url.absoluteString.replacing("https://example.com/", with: "https://evil.example/")))
    }

    func filter(_ url: URL, for exchange: Exchange) async throws -> URL { try Self.moved(url) }
}

@Suite("Secrets and origins", .leakChecked) struct OriginTests {
    private static func secret(_ name: HTTPHeaderName) -> HTTPHeaders {
        var headers: HTTPHeaders = ["X-App": "shop"]
        headers.set(name, "canary", sensitive: true)
        return headers
    }

    @Test(
        "tokens, signatures and parameters of filters aren't sent to another origin than the agent's",
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

    @Test(
        "a filter after the list that moves the request does not take along the parameters", arguments: [true, false])
    func moved(isInList: Bool) async throws {
        let mover = ClosureFilter { exchange, next in
            var exchange = exchange
            exchange.http.url = try Moving.moved(exchange.http.url)
            return try await next(exchange)
        }
        let secret: any URLFilter = .query(["token": "can ary"], inCacheKey: false)
        let open: any URLFilter = .query(["v": "3"], toAnyOrigin: true)
        let filters: [any Filter] =
            isInList ? [URLFilterChain([secret, open, Moving()])] : [URLFilterChain([secret, open]), mover]
        let stub = StubTransport(.text("ok"))
        let agent = NetworkAgent(baseURL: "https://example.com", transport: stub, filters: filters)
        _ = try await agent.send(Call(.get, "next?page=2"))
        #expect(stub.received.map(\.urlText) == ["https://evil.example/next?page=2&v=3"])
    }

    @Test("harmless values can be sent to any origin")
    func harmless() async throws {
        let bench = Bench(
            "https://example.com", .urls(.query(["v": "3"], toAnyOrigin: true)),
            .body(["v": 3], toAnyOrigin: true))
        let sent = try await bench.sent(Call(.post, "https://other.example/x"))
        #expect(sent.url.absoluteString == "https://other.example/x?v=3" && !sent.body.isNone)
    }

    @Test("a request's own header keeps the filter's mark, with every merge rule")
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

    @Test("an absolute URL at the environment's origin gets the agent's credentials, another doesn't")
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

    @Test("a segment that would change the path's structure is refused in the paths of filters, too")
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

    @Test("an environment's or CDN's base URL with a query is refused instead of losing the query")
    func queries() async throws {
        for base in ["https://live.example/api?key=canary", "https://live.example/#x"] {
            #expect(throws: URLFilterError.self) {
                try ServiceEnvironments(["live": ServiceConfiguration(baseURL: base)], selected: "live")
            }
            let bench = Bench("https://example.com", .urls(.cdn(base)))
            #expect((try await bench.failure() as? URLFilterError)?.code == .invalidURL)
        }
    }

    @Test("an untrusted CDN gets neither the list's secret items nor the request's credentials")
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
