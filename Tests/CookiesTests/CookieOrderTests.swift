import Errand
import ErrandCache
import ErrandCookies
import ErrandTesting
import Testing

@Suite("Explaining cookies") struct CookieOrderTests {
    private struct GetNews: CacheableRequest {
        var cachePolicy: CachePolicy
    }

    private func problems(_ filters: [any Filter], _ policy: CachePolicy) -> [String] {
        NetworkAgent(baseURL: "https://a.example", transport: .stub(.status(200)), filters: filters)
            .explain(GetNews(cachePolicy: policy)).problems
    }

    @Test("a timed cache doesn't see cookies, so it needs a partition, in any position")
    func timed() {
        for filters in [[.cookies, .cache(.memory())], [.cache(.memory()), .cookies]] as [[any Filter]] {
            let problem = problems(filters, .timed(.seconds(60)).and(.http)).first ?? ""
            #expect(problem.contains("the cache key doesn't include the cookies"))
            #expect(problems(filters, .timed(.seconds(60), partition: "7")).isEmpty)
        }
    }

    @Test("an HTTP cache belongs after the cookies")
    func http() {
        #expect(problems([.cookies, .cache(.memory())], .http).isEmpty)
        #expect(problems([.cache(.memory()), .cookies], .http).count == 1)
        #expect(problems([.cache(.memory()), .cookies], .http(partition: "7")).isEmpty)
    }

    @Test("the cache's timed policy applies to requests without a policy")
    func standard() {
        let cache = ResponseCache(.memory(), policy: .timed(.seconds(60)))
        let agent = NetworkAgent(baseURL: "https://a.example", transport: .stub, filters: [.cookies, cache])
        #expect(agent.explain(Call<Void>(.get, "news")).problems.count == 1)
    }
}
