import AsyncHTTPClient
import Errand
import ErrandAsyncHTTPClient
import ErrandConformance
import ErrandTesting
import NIOCore
import NIOHTTP1
import Testing

@Suite("AsyncHTTPClient", .timeLimit(.minutes(10)))
struct AsyncHTTPClientTransportTests {
    private static let excuses: [KnownLimitation] = [
        .feature(.departure, because: "the client does not show when a wait for a connection is over"),
        .feature(.trailers, because: "the client shows trailers behind an experimental trait only"),
        .named(
            "a connection that closes as it is used again is replaced",
            because: "the client does not say whether a connection has served before"),
        .named(
            "a connection that the server has closed since is replaced unseen",
            because: "where the client has not noticed yet, it does not say whether the connection has served before"),
        .feature(.informational, because: "the client drops 1xx responses"),
    ]

    @Test(
        "keeps what a transport promises",
        arguments: TransportConformance.cases(
            for: { AsyncHTTPClientTransport() }, laws: .off, knownLimitations: excuses
        ).filter { $0.limitation == nil })
    func conformance(each: ConformanceCase) async throws { try await each.run() }

    @Test("a client of the app's is used, and left running")
    func sharedClient() async throws {
        let server = try TestServer()
        server.on("/users/7", .text("Ada"))
        let client = HTTPClient(
            eventLoopGroupProvider: .singleton, configuration: AsyncHTTPClientTransport.configuration)
        do {
            let agent = NetworkAgent(baseURL: server.url, transport: .asyncHTTPClient(client))
            #expect(try await agent.send(Call<String>(.get, "users/7")).value == "Ada")
        }
        #expect(
            try await client.execute(HTTPClientRequest(url: server.url("/users/7")), timeout: .seconds(30)).status
                == .ok)
        try await client.shutdown()
    }
}
