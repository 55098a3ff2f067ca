import Errand
import ErrandConformance
import ErrandRateLimit
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

@Suite("RateLimit")
struct RateLimitTests {
    @Test(
        "passes the filter conformance suite",
        arguments: FilterConformance.cases(for: { RateLimit(10_000, per: .seconds(1)) }))
    func conformance(each: PluginConformanceCase) async throws { try await each.run() }

    private func agent(_ time: ManualTimeSource, _ limit: RateLimit, _ stub: StubTransport) -> NetworkAgent {
        NetworkAgent(baseURL: "https://api.example.com", transport: stub, filters: [limit], time: time)
    }

    @Test("a burst passes at once, and later requests at the rate, in order of arrival")
    func rate() async throws {
        let time = ManualTimeSource()
        let agent = agent(time, RateLimit(10, per: .seconds(10), burst: 2), .stub(.text("ok")))
        for _ in 0..<2 { try await agent.send(Call<Void>(.get, "burst")) }
        let order = Order()
        let tasks = try await Self.starting(3, time) { index in
            try await agent.send(Call<Void>(.get, "\(index)"))
            await order.add(index)
        }
        for index in 0..<3 {
            time.advance(by: .milliseconds(999))
            #expect(await order.all == Array(0..<index))
            time.advance(by: .milliseconds(1))
            try await tasks[index].value
        }
        #expect(await order.all == [0, 1, 2])
    }

    @Test("hosts don't wait for one another")
    func hosts() async throws {
        let time = ManualTimeSource()
        let agent = agent(time, RateLimit(1, per: .seconds(60)), .stub(.text("ok")))
        for host in ["a", "b", "c"] { try await agent.send(Call<Void>(.get, "https://\(host).example.com/")) }
        #expect(time.sleeperCount == 0)
    }

    @Test("a request that would wait beyond its deadline isn't sent, and doesn't take a token")
    func deadline() async throws {
        let time = ManualTimeSource()
        let agent = agent(time, RateLimit(1, per: .seconds(60)), .stub(.text("ok")))
        try await agent.send(Call<Void>(.get, "first"))
        let error = await #expect(throws: RateLimitError.self) {
            try await agent.send(Call<Void>(.get, "second") { $0.deadline = .seconds(10) })
        }
        #expect(error?.wait == .seconds(60))
        time.advance(by: .seconds(60))
        try await agent.send(Call<Void>(.get, "third"))
    }

    @Test("a cancelled request gives its token to the next")
    func cancelled() async throws {
        let time = ManualTimeSource()
        let agent = agent(time, RateLimit(1, per: .seconds(60)), .stub(.text("ok")))
        try await agent.send(Call<Void>(.get, "first"))
        let second = Task { try await agent.send(Call<Void>(.get, "second")) }
        try await time.waitForSleepers()
        second.cancel()
        await #expect(throws: ErrandError.self) { try await second.value }
        time.advance(by: .seconds(60))
        try await agent.send(Call<Void>(.get, "third"))
    }

    @Test("a host whose quota is used up gets no request until its window is renewed")
    func rest() async throws {
        let time = ManualTimeSource()
        let agent = agent(
            time, RateLimit(1_000, per: .seconds(1)),
            .stub(.text("ok").header("RateLimit", #""burst";r=0;t=30, "daily";r=100;t=5000"#)))
        try await agent.send(Call<Void>(.get, "first"))
        let second = Task { try await agent.send(Call<Void>(.get, "second")) }
        try await time.waitForSleepers()
        time.advance(by: .seconds(29))
        #expect(time.sleeperCount == 1)
        time.advance(by: .seconds(1))
        _ = try await second.value
    }

    @Test("waiting requests also obey a pause that another response asks for")
    func restOfThoseWhoWait() async throws {
        let (time, gate) = (ManualTimeSource(), Gate())
        let stub = StubTransport { request in
            guard request.url.path == "/slow" else { return .text("ok") }
            return .text("ok").header("RateLimit", #""burst";r=0;t=30"#).waiting(for: gate)
        }
        let agent = NetworkAgent(
            baseURL: "https://api.example.com", transport: stub, filters: [.rateLimit(1, per: .seconds(10))],
            time: time)
        let slow = Task { try await agent.send(Call<Void>(.get, "slow") { $0.timeout = .seconds(1_000) }) }
        try await gate.reached()
        let waiting = Task { try await agent.send(Call<Void>(.get, "waiting")) }
        // One sleeper waits at the gate, the other one for a token.
        try await time.waitForSleepers(atLeast: 2)
        gate.open()
        _ = try await slow.value
        time.advance(by: .seconds(10))
        try await time.waitForSleepers()
        time.advance(by: .seconds(19))
        #expect(stub.received.count == 1)
        time.advance(by: .seconds(1))
        _ = try await waiting.value
    }

    @Test("a policy that is slower than the app's rate slows it down")
    func policy() async throws {
        let time = ManualTimeSource()
        let agent = agent(
            time, RateLimit(1_000, per: .seconds(1), burst: 1),
            .stub(.text("ok").header("RateLimit-Policy", #""default";q=10;w=60"#)))
        try await agent.send(Call<Void>(.get, "first"))
        let second = Task { try await agent.send(Call<Void>(.get, "second")) }
        try await time.waitForSleepers()
        time.advance(by: .milliseconds(5_990))
        #expect(time.sleeperCount == 1)
        time.advance(by: .milliseconds(20))
        _ = try await second.value
    }

    @Test(
        "fields are read as in the draft",
        arguments: [
            (#""a";r=5;t=10"#, nil, RateLimitFields(expected: 5, .seconds(10), nil)),
            (#""a";r=5"#, #""a";q=10;w=60"#, RateLimitFields(expected: 5, .seconds(60), .seconds(6))),
            (#""a";r=5;t=10, "b";r=1;t=99"#, nil, RateLimitFields(expected: 1, .seconds(99), nil)),
            (nil, #""a";q=100;w=1, "b";q=10;w=100"#, RateLimitFields(expected: nil, nil, .seconds(10))),
            (#""a";r=-1;t=10"#, nil, nil), (#""a";r=x"#, nil, nil), ("r=5, t=10", nil, nil), ("", "", nil),
            (#""a";r=99999999999999999999"#, nil, nil), (nil, #""a";q=0;w=60"#, nil), (nil, #""a";q=1;w=0"#, nil),
            (#""a";r=0;t=999999999999"#, nil, RateLimitFields(expected: 0, nil, nil)),
        ] as [(String?, String?, RateLimitFields?)])
    func fields(limit: String?, policy: String?, expected: RateLimitFields?) {
        var headers = HTTPHeaders()
        if let limit { headers.add("RateLimit", limit) }
        if let policy { headers.add("RateLimit-Policy", policy) }
        #expect(RateLimitFields(headers) == expected)
    }

    @Test("it limits the requests on the wire")
    func wire() async throws {
        let server = try TestServer()
        server.on("/users", .text("ok"))
        let agent = NetworkAgent(
            baseURL: server.url, transport: .system, filters: [.rateLimit(1_000, per: .seconds(1), burst: 1)])
        for _ in 0..<5 { try await agent.send(Call<Void>(.get, "users")) }
        #expect(server.requestCount == 5)
    }

    /// Starts tasks one by one, each after the previous one has begun to wait.
    private static func starting(
        _ count: Int, _ time: ManualTimeSource, _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws -> [Task<Void, any Error>] {
        var tasks: [Task<Void, any Error>] = []
        for index in 0..<count {
            tasks.append(Task { try await body(index) })
            try await time.waitForSleepers(atLeast: index + 1)
        }
        return tasks
    }
}

private actor Order {
    private(set) var all: [Int] = []
    func add(_ index: Int) { all.append(index) }
}

extension RateLimitFields {
    /// Creates the fields by parsing headers, which is the only way.
    init?(expected remaining: Int?, _ reset: Duration?, _ interval: Duration?) {
        var headers = HTTPHeaders()
        if let remaining {
            let time = reset.map { ";t=\($0.components.seconds)" } ?? ""
            headers.add("RateLimit", "\"x\";r=\(remaining)\(time)")
        }
        if let interval { headers.add("RateLimit-Policy", "\"y\";q=1;w=\(interval.components.seconds)") }
        self.init(headers)
    }
}
