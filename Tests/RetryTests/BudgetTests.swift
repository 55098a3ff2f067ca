import Errand
import ErrandEssentials
import ErrandRetry
import ErrandTesting
import Testing

@Suite("The budget of retries", .endsInTime, .leakChecked) struct BudgetTests {
    private func standard(_ change: (inout RetryPolicy) -> Void = { _ in }) -> RetryPolicy {
        var policy = RetryPolicy(backoff: .none)
        change(&policy)
        return policy
    }

    @Test(
        "a server that fails every call gets at most 1.1 times the app's calls, in sequence and concurrently",
        arguments: [50, 100, 1_000])
    func dying(calls: Int) async {
        for atOnce in [false, true] {
            let stub = StubTransport(.status(503), maximumRecordedRequests: 100_000)
            let agent = NetworkAgent(stub, [.retry(standard())])
            if atOnce {
                await withTaskGroup { group in
                    for _ in 0..<calls { group.addTask { _ = try? await agent.send(Get()) } }
                }
            } else {
                for _ in 0..<calls { _ = try? await agent.send(Get()) }
            }
            let sent = stub.received.count
            #expect(sent <= calls * 11 / 10, "\(sent) for \(calls) calls")
            #expect(sent > calls)
        }
    }

    @Test("time doesn't refill the reserve while every call fails, but does after a success")
    func time() async throws {
        let time = ManualTimeSource()
        let down = Log<Bool>()
        let wire = Wire { _, request, _ in response(request, down.count == 0 ? 503 : 200) }
        let agent = NetworkAgent(wire, [.retry(standard())], time)
        for _ in 0..<100 {
            _ = try? await agent.send(Get())
            time.advance(by: .seconds(3_600))
        }
        #expect(wire.sent <= 110)
        down.add(false)
        _ = try await agent.send(Get())
        time.advance(by: .seconds(61))
        let again = Wire { number, request, _ in response(request, number < 3 ? 503 : 200) }
        let agent2 = NetworkAgent(again, [.retry(standard())], time)
        #expect(try await agent2.send(Get()).value == "ok")
    }

    @Test("a server that fails after many successful calls doesn't get as many retries")
    func saved() async {
        let (good, bad) = (3_000, 500)
        let wire = Wire { number, request, _ in response(request, number <= good ? 200 : 503) }
        let agent = NetworkAgent(wire, [.retry(standard())])
        for _ in 0..<(good + bad) { _ = try? await agent.send(Get()) }
        #expect(wire.sent <= good + bad + bad / 10 + 101)
    }

    @Test("cache hits aren't calls to the host, so they allow no retries")
    func hits() async {
        let wire = Wire { _, request, _ in response(request, 503) }
        let store = ClosureFilter { exchange, next in
            guard exchange.http.url.path() == "/hit" else { return try await next(exchange) }
            return HTTPResponse(
                url: exchange.http.url, status: 200, source: .stored(age: .zero, reason: "a test"))
        }
        let agent = NetworkAgent(wire, [.retry(standard()), store])
        for _ in 0..<1_000 { _ = try? await agent.send(Get("hit")) }
        for _ in 0..<100 { _ = try? await agent.send(Get()) }
        #expect(wire.sent <= 110)
    }

    @Test("one call can use all of its attempts, in any number")
    func single() async {
        let stub = StubTransport(.status(503))
        let agent = NetworkAgent(stub, [.retry(standard { $0.maximumAttempts = 12 })])
        _ = try? await agent.send(Get())
        #expect(stub.received.count == 12)
    }

    @Test("a failing host doesn't use up another host's budget")
    func hosts() async {
        let wire = Wire { _, request, _ in response(request, request.url.host() == "bad.example" ? 503 : 200) }
        let agent = NetworkAgent(wire, [.retry(standard())])
        for _ in 0..<1_000 { _ = try? await agent.send(Get("https://good.example/")) }
        for _ in 0..<100 { _ = try? await agent.send(Get("https://bad.example/")) }
        #expect(wire.sent <= 1_110)
    }

    @Test("invalid budget values allow only the reserve", arguments: [Double.nan, -1, -Double.infinity, 0])
    func nonsense(share: Double) async {
        let stub = StubTransport(.status(503))
        let agent = NetworkAgent(stub, [.retry(standard { $0.budget = RetryBudget(share: share, reserve: -3) })])
        for _ in 0..<100 { _ = try? await agent.send(Get()) }
        #expect(stub.received.count == 102)
    }

    @Test("a retry that is cancelled while waiting doesn't use the budget")
    func refund() async throws {
        let time = ManualTimeSource()
        let stub = StubTransport(.status(503))
        let policy = policy(2) { $0.budget = RetryBudget(share: 0, reserve: 1) }
        let agent = NetworkAgent(stub, [.retry(policy)], time)
        for _ in 0..<5 {
            let handle = agent.start(Get())
            try await eventually { time.sleeperCount == 1 }
            handle.cancel()
            _ = try? await handle.value
        }
        let task = agent.sending()
        try await eventually { time.sleeperCount == 1 }
        time.advance(by: .seconds(1))
        #expect(await outcome(task) == "503")
        #expect(stub.received.count == 7)
    }

    @Test("a cancelled retry of a call without a budget doesn't give another call an extra retry")
    func foreignRefund() async throws {
        let (time, stub) = (ManualTimeSource(), StubTransport(.status(503)))
        let budgeted = policy(2) { $0.budget = RetryBudget(share: 0, reserve: 1) }
        let agent = NetworkAgent(stub, [.retry(budgeted)], time)
        let first = agent.sending()
        try await eventually { time.sleeperCount == 1 }
        time.advance(by: .seconds(1))
        #expect(await outcome(first) == "503")
        let free = agent.start(Get(), options: .retry(policy(2)))
        try await eventually { time.sleeperCount == 1 }
        free.cancel()
        _ = try? await free.value
        #expect(stub.received.count == 3)
        #expect(await outcome(agent.sending()) == "503")
        #expect(stub.received.count == 4)
    }
}
