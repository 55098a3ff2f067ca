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
        .feature(.preSendCheck, because: "the client does not show when a wait for a connection is over"),
        .feature(.trailers, because: "the client shows trailers behind an experimental trait only"),
        .named(
            "a connection that closes while it is being reused is replaced without an error",
            because: "the client does not say whether a connection has served before"),
        .named(
            "an idle connection that the server closed is replaced without an error",
            because: "where the client has not noticed yet, it does not say whether the connection has served before"),
        .feature(.informational, because: "the client drops 1xx responses"),
    ]

    @Test(
        "passes the transport conformance suite",
        arguments: TransportConformance.cases(
            for: { AsyncHTTPClientTransport() }, laws: .off, knownLimitations: excuses
        ).filter { $0.limitation == nil })
    func conformance(each: ConformanceCase) async throws { try await each.run() }

    @Test("the app's own client can be used, and keeps running")
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
