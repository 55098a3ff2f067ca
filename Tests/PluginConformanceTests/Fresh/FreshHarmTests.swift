import Errand
import ErrandCache
import ErrandTesting
import Foundation
import Synchronization
import Testing

/// Each mistake of a fresh plugin does harm that a user notices.
@Suite("The mistakes of newly written plugins cause failures", .endsInTime)
struct FreshHarmTests {
    private struct Call: Request {
        typealias Output = HTTPResponse
        var method = HTTPMethod.get
        var path = "https://shop.example/a"
        var headers: HTTPHeaders = [:]
        var body = RequestBody.none
        var delivery = BodyDelivery.data
        var timeout: Duration?
        var deadline: Duration?
        var tags = Tags()
        var acceptableStatuses: StatusCodes { .any }
    }

    private func agent(
        _ filter: any Filter, time: any TimeSource = SystemTimeSource(), inside: [any Filter] = [],
        handler: @escaping StubTransport.Handler = { _ in .text("ok") }
    ) -> (NetworkAgent, StubTransport) {
        let stub = StubTransport(handler: handler)
        var configuration = AgentConfiguration(baseURL: "https://shop.example")
        configuration.filters = [filter] + inside
        return (Self.agent(configuration, stub, time), stub)
    }

    private static func agent(
        _ configuration: AgentConfiguration, _ transport: some Transport, _ time: some TimeSource
    ) -> NetworkAgent { NetworkAgent(configuration: configuration, transport: transport, time: time) }

    @Test("default headers lose the second value of a field")
    func defaultHeaders() async throws {
        let (agent, stub) = agent(DefaultHeaders(defaults: ["X-App": "shop"]))
        var headers = HTTPHeaders()
        for value in ["1", "2"] { headers.add("X-Part", value) }
        try await agent.send(Call(headers: headers))
        #expect(stub.received.first?.headers.values(of: "X-Part") == ["2"])
    }

    @Test("a timeout for reports replaces a shorter timeout")
    func reportTimeouts() async throws {
        let seen = Mutex<Duration?>(nil)
        let look = ClosureFilter(.wire) { exchange, next in
            seen.withLock { $0 = exchange.timeout }
            return try await next(exchange)
        }
        let (agent, _) = agent(ReportTimeouts(), inside: [look])
        try await agent.send(Call(method: .post, timeout: .seconds(2)))
        #expect(seen.withLock { $0 } == .seconds(120))
    }

    private enum Mark: TagKey { static var defaultValue: Int { 0 } }

    @Test("a screen's tag removes the request's tags")
    func screenTag() async throws {
        let seen = Mutex(1)
        let look = ClosureFilter(.wire) { exchange, next in
            seen.withLock { $0 = exchange.tags[Mark.self] }
            return try await next(exchange)
        }
        let (agent, _) = agent(ScreenTag(screen: "cart"), inside: [look])
        try await agent.send(Call(tags: Tags().with(Mark.self, 7)))
        #expect(seen.withLock { $0 } == 0)
    }

    @Test("a service's key is sent to the host of a redirect")
    func serviceKey() async throws {
        let (agent, stub) = agent(ServiceKey(key: "k")) { request in
            request.host == "shop.example" ? .redirect(to: "https://ads.example/") : .text("ad")
        }
        try await agent.send(Call())
        #expect(stub.received.last?.host == "ads.example" && stub.received.last?.headers["X-API-Key"] == "k")
    }

    @Test("one server's token is sent to another")
    func requestToken() async throws {
        let (agent, stub) = agent(RequestToken()) { _ in .text("ok").header("X-Request-Token", "t") }
        try await agent.send(Call())
        try await agent.send(Call(path: "https://ads.example/"))
        #expect(stub.received.last?.headers["X-Request-Token"] == "t")
    }

    @Test("a prefix decodes the path")
    func pathPrefix() async throws {
        let (agent, stub) = agent(PathPrefix(prefix: "/v2"))
        try await agent.send(Call(path: "https://shop.example/files/a%2Fb"))
        #expect(stub.received.first?.urlText == "https://shop.example/v2/files/a/b")
    }

    @Test("a language in the query turns a percent-encoded plus sign into a space")
    func languageQuery() async throws {
        let (agent, stub) = agent(LanguageQuery(language: "de"))
        try await agent.send(Call(path: "https://shop.example/?phone=%2B49"))
        #expect(stub.received.first?.urlText == "https://shop.example/?phone=+49&lang=de")
    }

    @Test("a signature consumes a body that can be read only once")
    func bodySignature() async throws {
        let (agent, _) = agent(BodySignature(key: "k")) { request in
            _ = try await request.body.open().collect(upTo: 100)
            return .text("ok")
        }
        let body = RequestBody.stream(HTTPBody { nil })
        await #expect(throws: ErrandError.self) { try await agent.send(Call(method: .post, body: body)) }
    }

    @Test("a filter replaces a stream with an envelope in memory")
    func bodyEnvelope() async throws {
        let (agent, stub) = agent(BodyEnvelope(device: "d"))
        try await agent.send(Call(method: .post, body: .stream { HTTPBody(Data("order".utf8)) }))
        #expect(stub.received.first?.body.data == Data("d\n".utf8))
    }

    @Test("the size of bodies is noted only when an event stream has ended")
    func sizeNotes() async throws {
        let gate = Gate()
        let (agent, _) = agent(SizeNotes()) { _ in
            .stream {
                try await gate.wait()
                return nil
            }
        }
        let task = Task { try await agent.send(Call(delivery: .stream)).http.status }
        try await gate.reached()
        // The caller doesn't have the head, although it arrived long ago.
        #expect(agent.activities.count == 1)
        gate.open()
        #expect(try await task.value == 200)
    }

    @Test("a hijacking guard loses the fields of a response")
    func hijackGuard() async throws {
        let (agent, _) = agent(HijackGuard()) { _ in .text("ok").header("X-Total", "7") }
        #expect(try await agent.send(Call()).http.headers["X-Total"] == nil)
    }

    @Test("a cancellation is reported as a network failure")
    func networkErrors() async throws {
        let (agent, _) = agent(NetworkErrors()) { _ in throw CancellationError() }
        await #expect(throws: ShopError.self) { try await agent.send(Call()) }
    }

    @Test("a length check refuses every response to HEAD")
    func lengthCheck() async throws {
        let (agent, _) = agent(LengthCheck()) { _ in StubResponse(status: 200, headers: ["Content-Length": "7"]) }
        await #expect(throws: ErrandError.self) { try await agent.send(Call(method: .head)) }
    }

    @Test("a fallback returns one user's response to another")
    func offlineFallback() async throws {
        let isDown = Mutex(false)
        let (agent, _) = agent(OfflineFallback()) { request in
            if isDown.withLock({ $0 }) { throw ErrandError(.connectionLost, "down") }
            return .text(request.headers[.authorization] ?? "")
        }
        try await agent.send(Call(headers: [.authorization: "Bearer one"]))
        isDown.withLock { $0 = true }
        #expect(try await agent.send(Call(headers: [.authorization: "Bearer two"])).http.text() == "Bearer one")
    }

    @Test("an eager retry places an order twice")
    func eagerRetry() async throws {
        let (agent, stub) = agent(EagerRetry()) { _ in throw ErrandError(.connectionLost, "cut") }
        _ = try? await agent.send(Call(method: .post, body: .text("order")))
        #expect(stub.received.count == 2)
    }

    @Test("a wait for a busy server passes the deadline")
    func busyServer() async throws {
        let time = ManualTimeSource()
        let (agent, _) = agent(BusyServer(), time: time) { _ in .status(503).header("Retry-After", "60") }
        let task = Task { try await agent.send(Call(deadline: .seconds(5))).http.status }
        try await time.waitForSleepers(atLeast: 1)
        time.advance(by: .seconds(6))
        await #expect(throws: ErrandError.self) { try await task.value }
    }

    @Test("two requests at once keep being sent after a cancellation")
    func twoAtOnce() async throws {
        let gate = Gate()
        let (agent, _) = agent(TwoAtOnce()) { _ in
            try await gate.wait()
            return .text("late")
        }
        let task = Task { try await agent.send(Call()).http.status }
        try await gate.reached(by: 2)
        task.cancel()
        _ = await task.result
        // Both requests still wait for the gate.
        #expect(gate.arrivals == 2)
        gate.open()
    }

    @Test("a call limit doesn't stop a cancelled transfer")
    func callLimit() async throws {
        let gate = Gate()
        let isCancelled = Mutex(false)
        let (agent, _) = agent(CallLimit(limit: .seconds(60))) { _ in
            do { try await gate.wait() } catch { isCancelled.withLock { $0 = true } }
            return .text("late")
        }
        let task = Task { try await agent.send(Call()).http.status }
        try await gate.reached()
        task.cancel()
        for _ in 0..<100 { await Task.yield() }
        #expect(!isCancelled.withLock { $0 })
        gate.open()
        _ = await task.result
    }

    @Test("a request limit fills up with failures")
    func busyLimit() async throws {
        let (agent, stub) = agent(BusyLimit(limit: 2)) { _ in throw ErrandError(.connectionLost, "cut") }
        for _ in 0..<5 { _ = try? await agent.send(Call()) }
        #expect(stub.received.count == 2)
    }

    @Test("a breaker refuses a host because another host fails")
    func serviceBreaker() async throws {
        let (agent, _) = agent(ServiceBreaker()) { request in
            if request.host == "ads.example" { throw ErrandError(.connectionLost, "cut") }
            return .text("ok")
        }
        for _ in 0..<5 { _ = try? await agent.send(Call(path: "https://ads.example/")) }
        await #expect(throws: ErrandError.self) { try await agent.send(Call()) }
    }

    @Test("a URL counter grows with every URL")
    func urlCounts() async throws {
        let counts = URLCounts()
        let (agent, _) = agent(counts)
        for number in 0..<100 { try await agent.send(Call(path: "https://shop.example/\(number)")) }
        #expect(counts.size == 100)
    }

    @Test("a response memory by URL returns one user's response to another")
    func urlMemory() async throws {
        let (agent, _) = agent(URLMemory()) { .text($0.headers[.authorization] ?? "") }
        try await agent.send(Call(headers: [.authorization: "Bearer one"]))
        #expect(try await agent.send(Call(headers: [.authorization: "Bearer two"])).http.text() == "Bearer one")
    }

    @Test("a joined call fails because another call is cancelled")
    func joining() async throws {
        let gate = Gate()
        let (agent, _) = agent(Joining()) { _ in
            try await gate.wait()
            return .text("ok")
        }
        let first = Task { try await agent.send(Call()).http.status }
        try await gate.reached()
        let entered = Gate()
        let second = Task {
            entered.open()
            return try await agent.send(Call()).http.status
        }
        try await entered.wait()
        while agent.activities.count < 2 { await Task.yield() }
        for _ in 0..<1_000 { await Task.yield() }
        first.cancel()
        _ = await first.result
        gate.open()
        // The second call joined the first one, or came after its end.
        if case .failure(let error) = await second.result { #expect(error.isCancellation) }
    }

    // MARK: Accessories and stores

    @Test("accessories keep secrets or grow without limit")
    func accessories() async throws {
        let (commands, bodies, times) = (CurlCommands(), LastBodies(), ResponseTimes())
        let stub = StubTransport { request in
            if request.url.path() == "/lost" { throw ErrandError(.connectionLost, "cut") }
            return .json("{\"password\":\"p\"}")
        }
        let agent = NetworkAgent(
            baseURL: "https://shop.example", transport: stub, accessories: [commands, bodies, times])
        try await agent.send(Call(headers: [.authorization: "Bearer s"]))
        for _ in 0..<10 { _ = try? await agent.send(Call(path: "/lost")) }
        #expect(commands.text.contains("Bearer s"))
        #expect(bodies.text.contains("\"p\""))
        #expect(times.running == 10)
    }

    @Test("stores confuse keys, heads, bodies and updates")
    func stores() async throws {
        func entry(_ text: String) throws -> CacheEntry {
            let head = CacheEntryHead(
                url: try #require(URL(string: "https://shop.example/\(text)")), received: .now, expires: .distantFuture)
            return CacheEntry(head: head, body: HTTPBody(Data(text.utf8)))
        }
        let text = TextStore()
        try await text.store(try entry("a"), for: CacheKey("\u{E4}"))
        #expect(text.entry(for: CacheKey("a\u{308}")) != nil)

        let readable = ReadableFileStore()
        try await readable.store(try entry("a"), for: CacheKey("https://shop.example/a/b"))
        #expect(await readable.entry(for: CacheKey("https://shop.example/A_b")) != nil)

        let (tables, gate) = (TwoTableStore(), Gate())
        try await tables.store(try entry("old"), for: CacheKey("k"))
        let slow = HTTPBody {
            try await gate.wait()
            return nil
        }
        let new = CacheEntry(head: try entry("new").head, body: slow)
        let task = Task { try await tables.store(new, for: CacheKey("k")) }
        try await gate.reached()
        let mixed = try #require(await tables.entry(for: CacheKey("k")))
        #expect(mixed.head.url.hasSuffix("new"))
        #expect(try await mixed.body.collect(upTo: 10) == Data("old".utf8))
        gate.open()
        try await task.value
    }
}
