import Errand
import ErrandCache
import ErrandCoalescing
import ErrandEssentials
import ErrandJSONValidation
import ErrandRetry
import ErrandTesting
import Synchronization
import Testing

@Suite("Its place among the filters", .leakChecked, .endsInTime) struct PlaceTests {
    private struct GetNews: CacheableRequest {
        typealias Output = String
        var path: String { "news" }
        var cachePolicy: CachePolicy { .timed(.seconds(60)) }
    }

    /// Runs concurrent requests, and then one more.
    private func run(_ filters: [any Filter], count: Int = 4) async throws -> (Service, [String]) {
        let (service, recorder) = (Service(), RecordingAccessory())
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: service.transport, filters: filters,
            accessories: [recorder])
        let handles = (0..<count).map { _ in agent.start(GetNews()) }
        try await recorder.joined(by: count - 1)
        service.gate.open()
        var texts: [String] = []
        for handle in handles { texts.append(try await handle.value.value) }
        texts.append(try await agent.send(GetNews()).value)
        return (service, texts)
    }

    @Test("Before a timed cache, requests that share an exchange look up and store once; the next request is a hit")
    func aboveTheCache() async throws {
        let store = CountingStore()
        let cache = ResponseCache(store)
        let (service, texts) = try await run([CoalescingFilter(in: .call), cache])
        // The cache writes in the background; without this, the next request might miss.
        await cache.flush()
        #expect(texts == Array(repeating: "1 /news none", count: 5))
        #expect(service.exchanges == 1)
        #expect(store.writes.value == 1)
    }

    @Test("Below a timed cache, misses share the exchange, and the next request is a hit")
    func belowTheCache() async throws {
        let (service, texts) = try await run([.cache(MemoryStore()), .coalescing])
        #expect(texts == Array(repeating: "1 /news none", count: 5))
        #expect(service.exchanges == 1)
    }

    @Test("Above the cache, a shared response is stored even if the request that began it was cancelled")
    func storedWithoutLeader() async throws {
        let (service, recorder, store) = (Service(), RecordingAccessory(), CountingStore())
        let cache = ResponseCache(store)
        let agent = NetworkAgent(service.transport, accessories: [recorder], CoalescingFilter(in: .call), cache)
        let first = agent.start(GetNews())
        try await service.gate.reached()
        let second = agent.start(GetNews())
        try await recorder.joined(by: 1)
        first.cancel()
        _ = await first.result
        service.gate.open()
        #expect(try await second.value.value == "1 /news none")
        await cache.flush()
        #expect(store.writes.value == 1)
        #expect(try await agent.send(GetNews()).value == "1 /news none")
        #expect(service.exchanges == 1)
    }

    @Test("Above the cache, a request that reloads doesn't join a request that may be a hit")
    func modes() async throws {
        let service = Service()
        let agent = NetworkAgent(service.transport, CoalescingFilter(in: .call), .cache(MemoryStore()))
        let handles = [agent.start(GetNews()), agent.start(GetNews(), options: .cache(.reload))]
        try await service.gate.reached(by: 2)
        service.gate.open()
        for handle in handles { _ = try await handle.value }
        #expect(service.exchanges == 2)
    }

    @Test("Requests that reload share with one another")
    func reloads() async throws {
        let (service, recorder) = (Service(), RecordingAccessory())
        let agent = NetworkAgent(
            service.transport, accessories: [recorder], CoalescingFilter(in: .call), .cache(MemoryStore()))
        let handles = (0..<2).map { _ in agent.start(GetNews(), options: .cache(.reload)) }
        try await recorder.joined(by: 1)
        service.gate.open()
        for handle in handles { _ = try await handle.value }
        #expect(service.exchanges == 1)
    }

    @Test("A redirect is followed even if the request that began the exchange is cancelled meanwhile")
    func redirects() async throws {
        let (gate, recorder) = (Gate(), RecordingAccessory())
        let transport = StubTransport()
        transport.on(.get, "/x", response: .redirect(to: "/y").waiting(for: gate))
        transport.on(.get, "/y", response: .text("there"))
        let agent = NetworkAgent(transport, accessories: [recorder], CoalescingFilter(in: .call))
        let first = agent.start(Call<String>(.get, "x"))
        try await gate.reached()
        let second = agent.start(Call<String>(.get, "x"))
        try await recorder.joined(by: 1)
        first.cancel()
        _ = await first.result
        gate.open()
        #expect(try await second.value.value == "there")
        #expect(transport.received.count == 2)
    }

    @Test("A later retry uses the latest deadline of the sharing requests, not the first request's")
    func retries() async throws {
        let (gate, recorder, time) = (Gate(), RecordingAccessory(), ManualTimeSource())
        let count = Counter()
        let transport = StubTransport(maximumRecordedRequests: 0) { _ in
            if count.increment() > 1 { return .text("second") }
            return .status(503, headers: ["Retry-After": "10"]).waiting(for: gate)
        }
        let agent = NetworkAgent(transport, time: time, accessories: [recorder], CoalescingFilter(in: .call), .retry)
        let first = agent.start(Call<String>(.get, "x") { $0.deadline = .seconds(5) })
        try await gate.reached()
        let second = agent.start(Call<String>(.get, "x") { $0.deadline = .seconds(60) })
        try await recorder.joined(by: 1)
        gate.open()
        try await recorder.retried()
        // The note precedes the wait, so check for both sleepers: the wait and the first deadline's timer.
        try await eventually { time.sleeperCount == 2 }
        time.advance(by: .seconds(6))
        #expect(await (first.result.failure as? ErrandError)?.code == .deadlineExceeded)
        time.advance(by: .seconds(6))
        #expect(try await second.value.value == "second")
    }

    @Test("Checks that later filters add judge the response of each request that shares")
    func checks() async throws {
        let (service, recorder, judged) = (Service(), RecordingAccessory(), Counter())
        let judging = ClosureFilter(.hop) { exchange, next in
            exchange.checks.add(ResponseCheck("counts") { _ in judged.increment() })
            return try await next(exchange)
        }
        let agent = NetworkAgent(service.transport, accessories: [recorder], .coalescing, judging)
        let handles = (0..<3).map { _ in agent.start(Call<String>(.get, "x")) }
        try await recorder.joined(by: 2)
        service.gate.open()
        for handle in handles { _ = try await handle.value }
        #expect(judged.value == 3)
    }

    @Test("A validation that one request needs isn't lost by sharing")
    func brought() async throws {
        struct GetNumber: JSONValidatedRequest {
            typealias Output = Data
            var path: String { "x" }
            var shape: JSONShape { .object(["id": .number]) }
        }
        let (service, recorder) = (Service(), RecordingAccessory())
        let agent = NetworkAgent(service.transport, accessories: [recorder], CoalescingFilter(in: .call))
        let plain = agent.start(Call<Data>(.get, "x"))
        try await service.gate.reached()
        let validated = agent.start(GetNumber())
        try await service.gate.reached(by: 2)
        service.gate.open()
        _ = try await plain.value
        await #expect(throws: (any Error).self) { try await validated.value }
    }

    @Test("Work that is staged after an activity has ended is discarded")
    func lateStaging() async throws {
        let (gate, discarded) = (Gate(), Gate())
        let held = Mutex<Exchange?>(nil)
        let agent = NetworkAgent(
            StubTransport(.text("x")),
            .closure { exchange, next in
                held.withLock { $0 = exchange }
                return try await next(exchange)
            })
        _ = try await agent.text()
        held.withLock { $0 }?.whenAccepted {
            gate.open()
        } otherwise: {
            discarded.open()
        }
        try await discarded.wait()
        #expect(!gate.isOpen)
        held.withLock { $0 = nil }
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}

extension RecordingAccessory {
    fileprivate func retried() async throws {
        try await eventually {
            self.records().contains { if case .note(let note) = $0.event { note.name == "retry" } else { false } }
        }
    }
}

private final class CountingStore: CacheStore {
    let writes = Counter()
    private let memory = MemoryStore()

    func entry(for key: CacheKey) async throws -> CacheEntry? { await memory.entry(for: key) }
    func store(_ entry: CacheEntry, for key: CacheKey) async throws {
        writes.increment()
        try await memory.store(entry, for: key)
    }
    func remove(_ key: CacheKey) async throws { await memory.remove(key) }
    func removeAll(where matches: @escaping @Sendable (CacheEntryHead) -> Bool) async throws {
        await memory.removeAll(where: matches)
    }
    func secret() async throws -> Data { await memory.secret() }
}
