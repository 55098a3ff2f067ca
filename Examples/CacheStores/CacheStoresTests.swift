import Errand
import ErrandCache
import ErrandCacheTesting
import ErrandTesting
import Foundation
import Testing

/// Runs both stores of this folder through the conformance suite, and plugs each into an agent.
@Suite("Your own stores", .timeLimit(.minutes(10)))
struct CacheStoresTests {
    @Test("a dictionary conforms", arguments: CacheStoreSuite.cases)
    func dictionary(_ test: CacheStoreSuite.Case) async throws { try await test.run { DictionaryStore() } }

    #if os(Linux) || os(macOS)
    @Test(
        "Redis conforms", .enabled(if: RedisServer.isInstalled, "redis-server is not installed"),
        arguments: CacheStoreSuite.cases)
    func redis(_ test: CacheStoreSuite.Case) async throws {
        let server = try await RedisServer.shared.value
        // Cases run concurrently, so each needs its own prefix.
        try await test.run { RedisStore(port: server.port, prefix: "test-\(UInt64.random(in: 0 ... .max)):") }
    }

    @Test("two agents share Redis", .enabled(if: RedisServer.isInstalled, "redis-server is not installed"))
    func shared() async throws {
        let port = try await RedisServer.shared.value.port
        let prefix = "test-\(UInt64.random(in: 0 ... .max)):"
        try await hits(RedisStore(port: port, prefix: prefix), RedisStore(port: port, prefix: prefix))
    }
    #endif

    @Test("each store is set in one line, and two agents can share a store")
    func swapped() async throws {
        let store = DictionaryStore()
        try await hits(store, store)
    }

    @Test("if the server is missing, the store fails and no request does")
    func down() async throws {
        let agent = NetworkAgent(
            baseURL: "https://example.com", transport: .stub(.text("live")), filters: [.cache(RedisStore(port: 1))])
        #expect(try await agent.send(GetPage()).value == "live")
    }

    /// Checks that two agents share stored responses.
    private func hits(_ first: some CacheStore, _ second: some CacheStore) async throws {
        let stub = StubTransport(.text("page"))
        let cache = ResponseCache(first)
        let agent = NetworkAgent(baseURL: "https://example.com", transport: stub, filters: [cache])
        #expect(try await agent.send(GetPage()).http.source == .network)
        await cache.flush()
        let other = NetworkAgent(baseURL: "https://example.com", transport: stub, filters: [.cache(second)])
        #expect(try await other.send(GetPage()).http.source.isCache)
        #expect(stub.received.count == 1)
    }
}

struct GetPage: CacheableRequest {
    typealias Output = String
    var path: String { "page" }
    var cachePolicy: CachePolicy { .timed(.seconds(600)) }
}
