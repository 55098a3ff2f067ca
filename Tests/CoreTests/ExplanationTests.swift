import ErrandTesting
import Foundation
import Testing

@testable import Errand

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

    @Test("the steps are listed in the order in which they run, with redirects and transport in their places")
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

    @Test("a request that can't be built is explained as well, and isn't sent")
    func broken() {
        let stub = StubTransport()
        let explanation = NetworkAgent(baseURL: "", transport: stub).explain(Call<Void>(.get, "users"))
        #expect(explanation.description.hasPrefix("the request can't be built: invalidURL"))
        #expect(explanation.steps.count == 2 && stub.received.isEmpty)
    }

    @Test(
        "a known wrong order is named with its reason",
        arguments: [
            ([.caches], [.signs], "another"), ([.caches], [.authenticates], "another"),
            ([.caches], [.changesRequest], "share an entry"), ([.signs], [.changesRequest], "doesn't cover"),
            ([.signs], [.retries], "reuses the first attempt's signature"), ([.caches], [.retries], "stale"),
        ] as [(FilterTraits, FilterTraits, String)])
    func orders(outer: FilterTraits, inner: FilterTraits, reason: String) throws {
        let (first, second) = (Step(explanation: "one", traits: outer), Step(explanation: "two", traits: inner))
        let problem = try #require(agent([first, second]).explain(Call<Void>(.get, "x")).problems.first)
        #expect(problem.hasPrefix("“one” runs before “two”: ") && problem.contains(reason))
        #expect(agent([second, first]).explain(Call<Void>(.get, "x")).problems.isEmpty)
    }

    @Test("a path that drops the path of the base is reported, with the correction")
    func pathOfBase() {
        func problems(_ path: String, base: String) -> [String] {
            NetworkAgent(baseURL: base, transport: .stub(.status(200))).explain(Call<Void>(.get, path)).problems
        }
        let deep = "https://api.example.com/app/v2"
        #expect(
            problems("/users/7", base: deep) == [
                "the path “/users/7” starts with a slash, so “/app/v2” of the base URL is left out;"
                    + " write “users/7” to keep it"
            ])
        for path in ["users/7", "/app/v2/users/7", "/app/v2", "https://other.example/users"] {
            #expect(problems(path, base: deep) == [], "\(path)")
        }
        #expect(problems("/app/v2x/users", base: deep).count == 1)
        for base in ["https://api.example.com", "https://api.example.com/"] {
            #expect(problems("/users/7", base: base) == [], "\(base)")
        }
        let complete = Whole()
        #expect(NetworkAgent(baseURL: deep, transport: .stub(.status(200))).explain(complete).problems == [])
    }

    private struct Whole: Request {
        let path = "/left/out"
        func httpRequest() throws -> HTTPRequest? {
            HTTPRequest(.get, try #require(URL(string: "https://api.example.com/x")))
        }
    }

    private struct Expecting: FilterDependentRequest {
        func problems(with filters: [any Filter]) -> [String] {
            filters.contains { $0 is Step } ? [] : ["nothing steps for \(filters.count) filters"]
        }
    }

    @Test("a request's missing filter is named, and Core's own steps don't count for it")
    func expectation() {
        #expect(agent([]).explain(Expecting()).problems == ["nothing steps for 0 filters"])
        #expect(agent([Step(explanation: "one")]).explain(Expecting()).problems.isEmpty)
    }

    private struct Rebased: Filter {
        var stages = FilterStages.call
        func preview(of request: HTTPRequest) throws -> HTTPRequest {
            var request = request
            request.url.append(path: "rebased")
            return request
        }
        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
    }

    @Test("the URL is the result of the call filters' previews")
    func preview() throws {
        let request = try agent([Rebased(), Rebased(stages: .hop)]).explain(Call<Void>(.get, "x")).request.get()
        #expect(request.url.absoluteString == "\(base)/x/rebased")
    }

    #if DEBUG
    @Test("a debug build reports each problem as new only once")
    func once() {
        let problem = "a problem that no other test has"
        #expect(FilterWarnings.newOnes(of: [problem]) == [problem])
        #expect(FilterWarnings.newOnes(of: [problem]).isEmpty)
    }
    #endif
}
