// The code of docs/filter-order.md.
import Errand
import ErrandCache
import ErrandCoalescing
import ErrandJSONValidation
import ErrandResumableDownload
import ErrandRetry
import ErrandSystemTransport
import ErrandTesting
import ErrandURLFilters
import Foundation
import Testing

struct LoginGate: Filter {
    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
}

actor UserSession {
    var token: String { get async throws { "token" } }
}

private let session = UserSession()

struct CountHops: Filter {
    var stages: FilterStages { .hop }
    var explanation: String { "counts requests on the wire" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
}

struct Transaction: Filter {
    func orderProblem(after outer: any Filter) -> String? {
        outer is Transaction ? "a transaction is begun within another" : nil
    }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
}

@Suite("The order of filters", .leakChecked) struct FilterOrderTests {
    private let directory = FileManager.default.temporaryDirectory.appending(path: "errand-order-\(UUID().uuidString)")

    @Test("the recommended order doesn't have problems")
    func recommended() throws {
        let limits = JSONLimits()
        let shop = try ServiceEnvironments(
            [.release: ServiceConfiguration(baseURL: "https://api.example.com", keys: ["sign": "secret"])],
            selected: .release)
        let agent = NetworkAgent(
            baseURL: shop.baseURL, transport: .system,
            filters: [
                LoginGate(),
                .environment(shop),
                .jsonValidation(limits: limits),
                .standardResilience,
                .hedge,
                .downloads(DownloadOptions(maximumSegments: 4)),
                SignedIn(session: session),
                .headers(["X-App": "shop"]),
                .body(["app": "shop"]),
                .urls(.query(["v": "3"]), .sign(key: .service("sign"))),
                .cache(.disk(at: directory)),
                .coalescing,
                CountHops(),
            ])
        let explanation = agent.explain(GetUser(id: 7))
        print(explanation)

        for problem in explanation.problems { print(problem) }
        #expect(explanation.problems.isEmpty, "\(explanation.problems)")
        #expect(explanation.steps.count == 19)
    }

    @Test("every order that the page calls wrong has a problem")
    func wrong() {
        let cacheFirst: [any Filter] = [.cache(.memory()), .urls(.sign(key: "secret"))]
        let signedBeforeRetry: [any Filter] = [.urls(.sign(key: "secret")), RetryOnce()]
        let signedBeforeBody: [any Filter] = [.urls(.sign(key: "secret")), .body(["app": "shop"])]
        let cacheBeforeRetry: [any Filter] = [.cache(.memory()), RetryOnce()]
        let nested: [any Filter] = [Transaction(), Transaction()]
        let timeoutFirst: [any Filter] = [.attemptTimeout(.seconds(1)), .hostLimit(HostLimits(maximumConcurrent: 1))]
        let timeoutBeforeBreaker: [any Filter] = [.attemptTimeout(.seconds(1)), .breaker]
        let breakerFirst: [any Filter] = [.breaker, .hostLimit(HostLimits(maximumConcurrent: 1))]
        let faultsFirst: [any Filter] = [.faultInjection(seed: 7), .breaker]
        let signedBeforeHedge: [any Filter] = [.urls(.sign(key: "secret")), .hedge]
        let resilience = [timeoutFirst, timeoutBeforeBreaker, breakerFirst, faultsFirst, signedBeforeHedge]
        for filters in [[.hedge, .retry], nested] + resilience + [
            cacheFirst, signedBeforeRetry, signedBeforeBody, cacheBeforeRetry,
        ] {
            let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .stub(.text("")), filters: filters)
            #expect(!agent.explain(GetUser(id: 7)).problems.isEmpty, "\(agent.explain(GetUser(id: 7)))")
        }
    }
}
