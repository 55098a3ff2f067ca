import Errand
import ErrandCache
import ErrandResumableDownload
import ErrandTesting
import Testing

@Suite("Explaining downloads", .leakChecked) struct ExplanationTests {
    private struct Signature: Filter {
        let traits: FilterTraits = .signs
        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
    }

    private func problems(_ filters: [any Filter]) throws -> [String] {
        let request = Get(try Folder().file("film"))
        return NetworkAgent(baseURL: "https://example.com", transport: .stub(.status(200)), filters: filters)
            .explain(request).problems
    }

    @Test("a cache may come before downloads, which it passes on")
    func cache() throws {
        #expect(try problems([.cache(.memory(), policy: .http)]).isEmpty)
        #expect(try problems([.cache(.memory()), .downloads]).isEmpty)
    }

    @Test("a signature belongs after downloads, which send several requests")
    func signature() throws {
        let agent = NetworkAgent(baseURL: "https://example.com", transport: .stub, filters: [.downloads, Signature()])
        #expect(agent.explain(Call<String>(.get, "a")).problems.isEmpty)
        #expect(try problems([Signature(), .downloads]).count == 1)
    }

    @Test("a download's own filter counts if the agent doesn't have one, and doesn't add to the agent's")
    func brought() throws {
        let problem = try #require(try problems([Signature()]).first)
        #expect(problem.contains("reuses the first attempt's signature"))
        #expect(try problems([.downloads, Signature()]).isEmpty)
    }
}
