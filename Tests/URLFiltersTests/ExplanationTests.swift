import Errand
import ErrandEssentials
import ErrandTesting
import ErrandURLFilters
import Testing

private struct Cache: Filter {
    let traits = FilterTraits.caches
    let explanation = "cache"
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
}

private let signer = Signer(key: "secret")
private let token: any Filter = .urls(.query(inCacheKey: false, name: "token") { _ in ["token": "t0ken"] })

@Suite("Explaining URL filters", .leakChecked) struct ExplanationTests {
    private func explanation(_ filters: [any Filter]) -> RequestExplanation {
        NetworkAgent(baseURL: "https://example.com", transport: .stub(.status(200)), filters: filters)
            .explain(Call())
    }

    @Test(
        "the order in the docs doesn't have problems",
        arguments: [
            [.urls(.prefix("/api"), .query(["v": "3"]), .sign(key: "secret")), Cache()],
            [.headers(["X-App": "shop"]), .body(["app": "shop"]), .headers(signedBy: signer), Cache()],
            [.body(["app": "shop"]), .body(signedBy: signer), Cache()],
            [token, .urls(.sign(key: "secret")), Cache()], [token, Cache()], [Cache(), token],
            [.urls(.withoutTracking, .cdn("https://cdn.example.com")), Cache()],
            [Cache(), .urls(.cdn("https://cdn.example.com"))],
        ] as [[any Filter]])
    func recommended(filters: [any Filter]) { #expect(explanation(filters).problems == []) }

    @Test(
        "a wrong order is reported with the filters and the reason",
        arguments: [
            (
                [Cache(), .urls(.sign(key: "secret"))],
                "“cache” runs before “URL filters: sign”: one user's cached response"
            ),
            (
                [Cache(), .headers(signedBy: signer)],
                "“cache” runs before “header filter \"sign\"”: one user's cached response"
            ),
            (
                [Cache(), .body(signedBy: signer)],
                "“cache” runs before “body filter \"sign\"”: one user's cached response"
            ),
            ([Cache(), .urls(.query(["v": "3"]))], "“cache” runs before “URL filters: query”: the cache key"),
            (
                [Cache(), .urls(.query(["v": "3"]), .query(["t": "1"], inCacheKey: false, name: "token"))],
                "“cache” runs before “URL filters: query, token”: the cache key"
            ),
            ([Cache(), .headers(["Accept": "a/b"])], "“cache” runs before “header filter \"headers\"”: the cache key"),
            ([Cache(), .body(["app": "shop"])], "“cache” runs before “body filter \"body\"”: the cache key"),
            ([.urls(.sign(key: "secret")), .body(["app": "shop"])], "“URL filters: sign” runs before “body filter"),
            (
                [.urls(.sign(key: "secret")), token],
                "“URL filters: sign” runs before “URL filters: token”: the signature"
            ),
        ] as [([any Filter], String)])
    func wrong(filters: [any Filter], problem: String) {
        let explanation = explanation(filters)
        #expect(explanation.problems.count == 1 && explanation.problems.first?.hasPrefix(problem) == true)
        #expect(!explanation.description.contains("t0ken") && !explanation.description.contains("secret"))
    }

    @Test("the explanation names the selected environment, which belongs before caches and signatures")
    func environment() throws {
        let shop = try ServiceEnvironments(
            [
                .develop: ServiceConfiguration(baseURL: "https://dev.example.com", keys: ["sign": "secret"]),
                .release: ServiceConfiguration(baseURL: "https://api.example.com", keys: ["sign": "secret"]),
            ], selected: .develop)
        let filters: [any Filter] = [.environment(shop), .urls(.sign(key: .service("sign"))), Cache()]
        #expect(explanation(filters).steps.first?.text == "environment develop")
        try shop.select(.release)
        #expect(explanation(filters).steps.first?.text == "environment release")
        #expect(explanation(filters).problems == [])
        #expect(explanation(filters.reversed()).problems.count == 3)
    }

    @Test("a request is explained and built with the URL of the selected environment")
    func urls() async throws {
        let shop = try ServiceEnvironments(
            [.develop: ServiceConfiguration(baseURL: "https://dev.example.com", version: "v2")], selected: .develop)
        let agent = NetworkAgent(
            baseURL: shop.baseURL, transport: .stub(.status(200)),
            filters: [.environment(shop), .urls(.query(["v": "3"]), .sign(key: "secret"))])
        let request = Call(.get, "users/7")
        #expect(agent.explain(request).description.hasPrefix("GET https://dev.example.com/v2/users/7\n"))
        #expect(agent.explain(request).problems == [])
        let made = try await agent.filteredRequest(for: request).url.absoluteString
        #expect(made.hasPrefix("https://dev.example.com/v2/users/7?v=3&"))
    }

    @Test("environments without their filter are reported")
    func environmentWithoutFilter() throws {
        let shop = try ServiceEnvironments(
            [.develop: ServiceConfiguration(baseURL: "https://dev.example.com")], selected: .develop)
        let agent = NetworkAgent(baseURL: shop.baseURL, transport: .stub(.status(200)))
        #expect(
            agent.explain(Call(.get, "users/7")).problems == [
                "the host “environment.invalid” is a placeholder that no filter replaces, so it can't be resolved"
            ])
    }
}
