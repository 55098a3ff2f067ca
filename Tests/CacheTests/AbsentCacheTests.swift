import Errand
import ErrandBatch
import ErrandCache
import ErrandChain
import ErrandTesting
import Foundation
import Testing

@Suite("Without a cache on the way", .endsInTime, .leakChecked)
struct AbsentCacheTests {
    private let stub = StubTransport(.text("live"))

    private var agent: NetworkAgent { NetworkAgent(baseURL: "https://example.com", transport: stub) }

    private func order() -> Get {
        var order = Get("orders")
        order.method = .post
        return order
    }

    private func isAbsent(_ error: any Error) -> Bool { (error as? CacheMiss)?.reason == .notInstalled }

    @Test("a call that asks a missing cache throws a typed error and isn't sent")
    func typedErrors() async throws {
        let response = HTTPResponse(url: try #require(URL(string: "https://example.com/a")), status: 200)
        for request in [Get(), order(), Get("feed", .http), Get("feed", .off)] {
            await #expect(performing: { try await agent.cached(request) }, throws: isAbsent)
            await #expect(performing: { try await agent.cached(request, includingStale: true) }, throws: isAbsent)
            await #expect(performing: { try await agent.removeCached(request) }, throws: isAbsent)
            await #expect(performing: { try await agent.store(response, for: request) }, throws: isAbsent)
            for mode in [CacheMode.cacheOnly, .cacheOnlyIncludingStale] {
                let options = CallOptions.cache(mode)
                await #expect(performing: { try await agent.send(request, options: options) }, throws: isAbsent)
            }
            await #expect(
                performing: { for try await _ in agent.cachedThenFresh(request) {} }, throws: isAbsent)
        }
        #expect(stub.received.isEmpty)
    }

    @Test("batches and chains don't send requests in a cache mode that forbids it")
    func composites() async throws {
        let options = CallOptions.cache(.cacheOnly)
        await #expect(throws: (any Error).self) {
            try await agent.run(Batch([Get("a"), Get("b"), order()]), options: options)
        }
        await #expect(throws: (any Error).self) {
            try await agent.run(Chain("two", Get("a")).then { _ in Get("b") }, options: options)
        }
        #expect(stub.received.isEmpty)
    }

    @Test("an agent that forwards only tags is guarded too; an agent that drops all options can't report a hit")
    func forwarding() async throws {
        struct Forwarding: Agent {
            let base: NetworkAgent
            let passesTags: Bool
            func send<R: Request>(_ request: R, options: CallOptions) async throws -> Response<R.Output> {
                try await base.send(request, options: CallOptions(tags: passesTags ? options.tags : Tags()))
            }
        }
        let tagged = Forwarding(base: agent, passesTags: true)
        await #expect(performing: { try await tagged.removeCached(order()) }, throws: isAbsent)
        #expect(stub.received.isEmpty)
        let bare = Forwarding(base: agent, passesTags: false)
        await #expect(performing: { try await bare.cached(Get()) }, throws: isAbsent)
        await #expect(performing: { try await bare.removeCached(Get()) }, throws: isAbsent)
        let response = HTTPResponse(url: try #require(URL(string: "https://example.com/a")), status: 200)
        await #expect(performing: { try await bare.store(response, for: Get()) }, throws: isAbsent)
    }

    @Test("modes that fall back to the server send a request, with a cache or without")
    func fallbacks() async throws {
        let modes: [CacheMode] = [
            .standard, .reload, .reloadFromOrigin, .preferCache, .staleIfError, .staleWhileRevalidate, .off,
        ]
        for mode in modes { #expect(try await agent.send(Get(), options: .cache(mode)).value == "live") }
        #expect(stub.received.count == modes.count)
    }

    @Test("if a cache doesn't handle the request, the reason differs from a missing cache, and no request is sent")
    func offIsAnotherReason() async throws {
        let f = Fixture()
        f.respond()
        let response = HTTPResponse(url: try #require(URL(string: "https://example.com/a")), status: 200)
        func isOff(_ error: any Error) -> Bool { (error as? CacheMiss)?.reason == .off }
        var posts = [order(), order()]
        posts[0].cachePolicy = .off
        posts[1].cachePolicy = .http
        for request in posts {
            #expect(try await f.agent.cached(request) == nil)
            await #expect(performing: { try await f.agent.removeCached(request) }, throws: isOff)
            await #expect(performing: { try await f.agent.store(response, for: request) }, throws: isOff)
            await #expect(performing: { try await f.text(request, .cacheOnly) }, throws: isOff)
        }
        #expect(try await !f.agent.removeCached(order()))
        #expect(f.sent == 0)
    }

    @Test("an agent that maps errors still reports whether a response was stored")
    func mappedErrors() async throws {
        struct Mapped: Error {}
        let f = Fixture()
        f.respond()
        f.agent.configure { $0.mapError = { _ in Mapped() } }
        #expect(try await f.agent.cached(Get()) == nil)
        #expect(try await !f.agent.removeCached(Get()))
        _ = try await f.text(Get())
        #expect(try await f.agent.removeCached(Get()))
        #expect(try await f.agent.cached(Get()) == nil)
    }

    @Test("removing an entry that the store cannot remove throws, and it is not served again")
    func failingRemoval() async throws {
        let store = StubbornStore()
        let f = Fixture(store)
        f.respond()
        for policy in [CachePolicy.timed(.seconds(60)), .http] {
            f.respond(["Cache-Control": "max-age=60"])
            let get = Get("feed", policy)
            #expect(try await f.text(get) == "1")
            await f.cache.flush()
            await #expect(throws: CacheStoreError.self) { try await f.agent.removeCached(get) }
            #expect(try await f.agent.cached(get) == nil)
            #expect(try await f.text(get) == "2")
        }
    }
}

/// Keeps entries that it's asked to remove.
private final class StubbornStore: CacheStore {
    private let memory = MemoryStore()
    func entry(for key: CacheKey) async throws -> CacheEntry? { await memory.entry(for: key) }
    func store(_ entry: CacheEntry, for key: CacheKey) async throws { try await memory.store(entry, for: key) }
    func remove(_ key: CacheKey) async throws { throw CacheStoreError("read only") }
    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws {
        throw CacheStoreError("read only")
    }
    func secret() async throws -> Data { await memory.secret() }
}
