import Errand
import ErrandTesting
import Testing

@Suite("Explaining a request", .leakChecked) struct ExplanationTests {
    private struct Step: Filter {
        var explanation: String
        var stages = FilterStages.call
        var traits: FilterTraits = []
        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
    }

    private func agent(_ filters: [any Filter]) -> NetworkAgent {
        NetworkAgent(baseURL: base, transport: .stub(.status(200)), filters: filters)
    }

    @Test("the steps stand in the order in which they run, with redirects and transport in their places")
    func steps() throws {
        let agent = agent([
            Step(explanation: "cookies", stages: .hop), Step(explanation: "urls"),
            Step(explanation: "cache", stages: [.call, .hop]),
        ])
        let call = Call<Int>(.get, "users/7?token=secret", decode: { _ in 7 }) {
            $0.filters = [Step(explanation: "own")]
            $0.checks = [ResponseCheck("business code") { _ in }]
        }
        let text = agent.explain(call, options: CallOptions(filters: [Step(explanation: "call's")])).description
        #expect(
            text == """
                GET \(base)/users/7?token=•••
                 1 call  urls
                 2 call  cache
                 3 call  own
                 4 call  call's
                 5 call  redirects, at most 20
                 6 hop   cookies
                 7 hop   cache
                 8 hop   transport StubTransport
                status 200–299, content type */*, check business code
                """)
    }

    @Test("a request that cannot be built is explained all the same, nothing is sent")
    func broken() {
        let stub = StubTransport()
        let explanation = NetworkAgent(baseURL: "", transport: stub).explain(Call<Void>(.get, "users"))
        #expect(explanation.description.hasPrefix("cannot be built: invalidURL"))
        #expect(explanation.steps.count == 2 && stub.received.isEmpty)
    }

    @Test(
        "a known wrong order is named with its reason",
        arguments: [
            ([.caches], [.signs], "another"), ([.caches], [.authenticates], "another"),
            ([.caches], [.changesRequest], "share an entry"), ([.signs], [.changesRequest], "does not cover"),
            ([.signs], [.retries], "repeats the signature"), ([.caches], [.retries], "stale"),
        ] as [(FilterTraits, FilterTraits, String)])
    func orders(outer: FilterTraits, inner: FilterTraits, reason: String) throws {
        let (first, second) = (Step(explanation: "one", traits: outer), Step(explanation: "two", traits: inner))
        let problem = try #require(agent([first, second]).explain(Call<Void>(.get, "x")).problems.first)
        #expect(problem.hasPrefix("one runs before two: ") && problem.contains(reason))
        #expect(agent([second, first]).explain(Call<Void>(.get, "x")).problems.isEmpty)
    }
}
