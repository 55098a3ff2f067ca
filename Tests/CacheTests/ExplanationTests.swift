import Errand
import ErrandCache
import ErrandTesting
import Testing

@Suite("Explaining a cache", .leakChecked) struct ExplanationTests {
    private struct Step: Filter {
        let traits: FilterTraits
        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
    }

    private func explanation(
        _ filters: [any Filter], _ policy: CachePolicy = .off, options: CallOptions = CallOptions()
    ) -> RequestExplanation {
        NetworkAgent(baseURL: "https://example.com", transport: .stub(.status(200)), filters: filters)
            .explain(Get("a", policy), options: options)
    }

    @Test(
        "the cache explains in both stages where it stores, and which policy applies to the request",
        arguments: [
            (CachePolicy.off, "off"), (.http(partition: "secret"), "HTTP"),
            (.timed(.seconds(30), partition: "secret"), "timed for 30 s"),
            (.timed(.seconds(30)).and(.http), "timed for 30 s, then HTTP"),
        ])
    func says(policy: CachePolicy, summary: String) {
        // The cache's policy applies to requests without their own.
        let agent = NetworkAgent(
            baseURL: "https://example.com", transport: .stub(.status(200)),
            filters: [.cache(.memory(), policy: policy)])
        let others = [
            agent.explain(Call<String>(.get, "a")),
            explanation([.cache(.memory(), policy: .timed(.seconds(1)))], policy),
        ]
        for explanation in others {
            let steps = explanation.steps.filter { $0.text.hasPrefix("cache") }
            #expect(steps.map(\.stage) == [.call, .hop])
            #expect(steps.allSatisfy { $0.text == "cache in MemoryStore, policy \(summary)" })
            #expect(!explanation.description.contains("secret"))
        }
    }

    @Test("the description of a cache alone, without a request, names its policy as the default")
    func alone() {
        #expect(ResponseCache(.memory(), policy: .http).explanation == "cache in MemoryStore, policy HTTP")
    }

    @Test(
        "filters that change, sign or retry a request belong before the cache",
        arguments: [.changesRequest, .signs, .authenticates, .retries] as [FilterTraits])
    func orders(traits: FilterTraits) {
        #expect(explanation([Step(traits: traits), .cache(.memory())]).problems.isEmpty)
        #expect(explanation([.cache(.memory()), Step(traits: traits)]).problems.count == 1)
    }

    @Test("a cache that keeps users apart by their partition may come before the filter that adds their credentials")
    func partitions() {
        for traits in [.signs, .authenticates] as [FilterTraits] {
            for policy in [.http(partition: "7"), .timed(.seconds(1), partition: "7").and(.http(partition: "7"))]
                as [CachePolicy]
            {
                #expect(explanation([.cache(.memory(), policy: policy), Step(traits: traits)]).problems.isEmpty)
            }
            for policy in [.off, .http, .timed(.seconds(1), partition: "7").and(.http)] as [CachePolicy] {
                #expect(explanation([.cache(.memory(), policy: policy), Step(traits: traits)]).problems.count == 1)
            }
        }
    }

    @Test("values that aren't in the key may be added before and after the cache")
    func outsideTheKey() {
        let step = Step(traits: [.changesRequest, .outsideCacheKey])
        #expect(explanation([step, .cache(.memory())]).problems.isEmpty)
        #expect(explanation([.cache(.memory()), step]).problems.isEmpty)
    }

    @Test("a policy without a cache and a second cache are reported")
    func misplaced() {
        let agent = NetworkAgent(baseURL: "https://example.com", transport: .stub(.status(200)))
        #expect(
            agent.explain(Get("a", .timed(.seconds(30)))).problems == [
                "the cache policy (timed for 30 s) has no effect, because there is no .cache(…) filter"
            ])
        #expect(agent.explain(Get("a", .off)).problems.isEmpty)
        let cached = agent.explain(Get("a", .http), options: CallOptions(filters: [.cache(.memory())]))
        #expect(cached.problems.isEmpty)
        let twice = explanation([.cache(.memory()), .cache(.memory())]).problems
        #expect(twice.count == 1 && twice.first?.contains("both filters store each response") == true)
    }

    @Test("a cache key that no timed policy uses is reported")
    func uselessKey() {
        let options = CallOptions(filters: [.cache(.memory())])
        let agent = NetworkAgent(baseURL: "https://example.com", transport: .stub(.status(200)))
        for (policy, count) in [
            (.http, 1), (.http(partition: "me"), 1), (.off, 0), (.timed(.seconds(30)), 0),
            (.timed(.seconds(30)).and(.http), 0),
        ] as [(CachePolicy, Int)] {
            var get = Get("a", policy)
            #expect(agent.explain(get, options: options).problems.isEmpty)
            get.cacheKey = .standard.dropping("ts")
            let problems = agent.explain(get, options: options).problems
            #expect(problems.count == count && problems.allSatisfy { $0.hasPrefix("the cacheKey has no effect") })
        }
    }

    @Test("a mode that never sends shows the guard before the transport")
    func modes() {
        let texts = explanation([.cache(.memory())], options: .cache(.cacheOnly)).steps.map(\.text)
        #expect(texts.dropLast().last == "rejects requests that need a cached response")
    }
}
