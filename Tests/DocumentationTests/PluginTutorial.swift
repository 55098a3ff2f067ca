// The code that docs/tutorials/plugin.md builds, step by step.
import Errand
import ErrandConformance
import ErrandTesting
import Foundation
import Testing

struct RequestID: Filter {
    let name: HTTPHeaderName

    init(_ name: HTTPHeaderName = "X-Request-ID") { self.name = name }

    var traits: FilterTraits { [.changesRequest, .outsideCacheKey] }
    var explanation: String { "adds \(name)" }

    func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
        guard !exchange.http.headers.contains(name) else { return try await next(exchange) }
        var exchange = exchange
        exchange.http.headers[name] = UUID().uuidString
        exchange.note("request id", exchange.http.headers[name] ?? "")
        return try await next(exchange)
    }
}

extension Filter where Self == RequestID {
    /// `filters: [.requestID]`
    static var requestID: RequestID { RequestID() }
}

@Suite("The tutorial of a plugin") struct PluginTutorialTests {
    @Test("each call has its own ID, which all of its attempts share")
    func ids() async throws {
        let stub = StubTransport()
        stub.on(.get, "/a", response: .redirect(to: "/b"))
        stub.on(.get, "/b", response: .text("ok"))
        let agent = NetworkAgent(baseURL: "https://api.example.com", transport: stub, filters: [.requestID])
        try await agent.send(Call<Void>(.get, "a"))
        try await agent.send(Call<Void>(.get, "b"))
        let ids = stub.received.map { $0.headers["X-Request-ID"] }
        #expect(ids[0] != nil && ids[0] == ids[1] && ids[1] != ids[2])
    }

    @Test(arguments: FilterConformance.cases(for: { RequestID() }))
    func kept(each: PluginConformanceCase) async throws { try await each.run() }
}
