import Errand
import ErrandDigests
import ErrandEssentials
import ErrandSupport
import ErrandTesting
import ErrandURLFilters
import Testing

@Suite("Environments", .endsInTime, .leakChecked)
struct EnvironmentTests {
    private func shop() throws -> ServiceEnvironments {
        try ServiceEnvironments(
            [
                .develop: ServiceConfiguration(
                    baseURL: "http://127.0.0.1:8080/dev/", cdnURL: "https://cdn.example.com/c",
                    keys: ["sign": "develop"]),
                .releaseCandidate: ServiceConfiguration(baseURL: "https://rc.example.com", version: "v3"),
                .release: ServiceConfiguration(
                    baseURL: "https://api.example.com/shop", version: "v2", keys: ["sign": "release", "public": "p"]),
                "local": ServiceConfiguration(baseURL: "http://[::1]:9", version: "/x/y"),
            ], selected: .develop)
    }

    private func bench(_ shop: ServiceEnvironments, _ filters: any Filter...) -> Bench {
        let bench = Bench(shop.baseURL, cdn: shop.cdnURL)
        bench.agent.configure { $0.filters = filters }
        return bench
    }

    @Test("environments have their own base URL, version and keys, coexist, and are switched at run time")
    func switched() async throws {
        let shop = try shop()
        let bench = bench(shop, .environment(shop), .urls(.sign(key: .service("sign"))))
        func signed(_ url: String, _ key: String) -> String {
            let message = "a=1&timestamp=1700000000"
            let code = HMAC<SHA256Digest>.code(for: message.utf8, key: key.utf8)
            return "\(url)?a=1&timestamp=1700000000&sign=\(Hexadecimal.text(code))"
        }
        #expect(try await bench.url("users?a=1") == signed("http://127.0.0.1:8080/dev/users", "develop"))
        try shop.select(.release)
        #expect(shop.selected == .release && shop.settings.version == "v2")
        #expect(try await bench.url("users?a=1") == signed("https://api.example.com/shop/v2/users", "release"))
        try shop.select(.releaseCandidate)
        #expect((try await bench.failure() as? URLFilterError)?.code == .missingEnvironment)
        #expect(shop.names == [.develop, "local", .release, .releaseCandidate])
        #expect(shop["local"]?.baseURL == "http://[::1]:9" && shop["none"] == nil)
    }

    @Test("a path is resolved to base/version/path, to base/path, or by your own rule")
    func rule() async throws {
        let shop = try shop()
        let standard = bench(shop, .environment(shop))
        let own = bench(shop, .environment(shop) { "\($0.baseURL)/api-\($0.version ?? "0")" })
        try shop.select(.release)
        #expect(try await standard.url("users") == "https://api.example.com/shop/v2/users")
        #expect(try await standard.url("") == "https://api.example.com/shop/v2/")
        #expect(try await standard.url("/users?x#f") == "https://api.example.com/users?x#f")
        #expect(try await standard.url("a/../b") == "https://api.example.com/shop/v2/b")
        #expect(try await own.url("users") == "https://api.example.com/shop/api-v2/users")
        try shop.select(.develop)
        #expect(try await standard.url("users") == "http://127.0.0.1:8080/dev/users")
        try shop.select("local")
        #expect(try await standard.url("users") == "http://[::1]:9/x/y/users")
        let broken = bench(shop, .environment(shop) { _ in "ftp://example.com" })
        #expect((try await broken.failure() as? URLFilterError)?.code == .invalidURL)
    }

    @Test("absolute URLs and a request's own base don't change, and no request is exempt from the environment")
    func others() async throws {
        let shop = try shop()
        let bench = bench(shop, .environment(shop), .urls(.query(["v": "3"])))
        #expect(try await bench.url("https://api.example.com/x") == "https://api.example.com/x?v=3")
        var call = Call(.get, "a")
        call.base = .url("https://own.example.com")
        #expect(try await bench.sent(call).url.absoluteString == "https://own.example.com/a?v=3")
        let exempt = Tags().with(FilterExemption.self, .all)
        #expect(try await bench.url("a", tags: exempt) == "http://127.0.0.1:8080/dev/a")
        call.base = .cdn
        #expect(try await bench.sent(call).url.absoluteString == "https://cdn.example.com/c/a?v=3")
        try shop.select(.release)
        #expect((try await bench.failure(call) as? URLFilterError)?.code == .missingEnvironment)
    }

    @Test("without the filter, no request reaches a server, because the placeholder's host doesn't exist")
    func placeholder() throws {
        let shop = try shop()
        for text in [shop.baseURL, shop.cdnURL] {
            #expect(
                try #require(URL(string: text)?.host).hasSuffix(".environment.invalid")
                    || text.contains("//environment.invalid/"))
        }
    }

    @Test("a call keeps its environment from the start, however often it is switched")
    func pinned() async throws {
        let shop = try shop()
        let switching = ClosureFilter { exchange, next in
            try shop.select(.release)
            return try await next(exchange)
        }
        let bench = bench(
            shop, .environment(shop), switching, .urls(.query { ["base": $0.service?.baseURL ?? ""] }))
        #expect(try await bench.url("a") == "http://127.0.0.1:8080/dev/a?base=http%3A//127.0.0.1%3A8080/dev/")
        #expect(shop.selected == .release)
    }

    @Test("while many threads switch and requests run, URL and key always belong to one environment")
    func concurrent() async throws {
        let shop = try shop()
        let bench = bench(
            shop, .environment(shop), .urls(.query { ["k": $0.service?.keys["sign"]?.text ?? ""] }))
        try await withThrowingTaskGroup { group in
            for index in 0..<100 {
                group.addTask { try shop.select(index.isMultiple(of: 2) ? .develop : .release) }
                group.addTask { _ = try await bench.agent.send(Call(.get, "a")) }
            }
            try await group.waitForAll()
        }
        let urls = Set(bench.stub.received.map(\.url.absoluteString))
        #expect(
            urls.isSubset(of: ["http://127.0.0.1:8080/dev/a?k=develop", "https://api.example.com/shop/v2/a?k=release"]))
        #expect(bench.stub.received.count == 100)
    }

    @Test("cached responses of different environments are separate")
    func keys() async throws {
        let (shop, watch) = (try shop(), KeyWatch())
        let bench = bench(
            shop, .urls(.query(["t": "1"], inCacheKey: false)), .environment(shop), watch)
        _ = try await bench.url("a")
        try shop.select(.release)
        _ = try await bench.url("a")
        #expect(watch.keys == ["http://127.0.0.1:8080/dev/a", "https://api.example.com/shop/v2/a"])
    }

    @Test(
        "unusable settings throw when they are created",
        arguments: [
            ("ftp://example.com", nil, nil), ("example.com", nil, nil), ("https://u:p@example.com", nil, nil),
            ("https://example.com", "cdn", nil), ("https://example.com", nil, "v 2"),
            ("https://example.com", nil, "v?2"),
        ] as [(String, String?, String?)])
    func invalid(base: String, cdn: String?, version: String?) throws {
        let settings = ServiceConfiguration(baseURL: base, cdnURL: cdn, version: version)
        let error = #expect(throws: URLFilterError.self) {
            try ServiceEnvironments([.release: settings], selected: .release)
        }
        #expect(error?.code == .invalidURL)
    }

    @Test("a missing environment can't be selected")
    func unknown() throws {
        let error = #expect(throws: URLFilterError.self) { try ServiceEnvironments([:], selected: .release) }
        #expect(error?.code == .missingEnvironment)
        let shop = try shop()
        #expect(throws: URLFilterError.self) { try shop.select("nowhere") }
        #expect(shop.selected == .develop)
    }
}
