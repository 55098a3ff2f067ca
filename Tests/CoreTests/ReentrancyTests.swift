import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization
import Testing

private final class Farewell: Sendable {
    private let body: @Sendable () -> Void
    init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    deinit { body() }
}

@Suite("A user's closure runs under no lock", .endsInTime, .leakChecked) struct ReentrancyTests {
    @Test("a configuration change can read the agent and send with it")
    func configure() async throws {
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("x")))
        agent.configure { $0.baseURL = agent.configuration.baseURL + "/v2" }
        #expect(agent.configuration.baseURL == base + "/v2")
        let handle = Mutex<RequestHandle<Response<Data>>?>(nil)
        agent.configure { configuration in
            configuration.timeout = .seconds(1)
            handle.withLock { $0 = agent.start(Plain()) }
            #expect(agent.cancelAll { _ in false } == 0)
        }
        _ = try await handle.withLock { $0 }?.value
        #expect(agent.configuration.timeout == .seconds(1))
    }

    /// Reports 3,000 messages while it handles the first one.
    private final class Echo: Accessory {
        let observesMessages = true
        private let state = Mutex((messages: 0, notes: [String](), ends: 0))

        var known: (messages: Int, notes: [String], ends: Int) { state.withLock { $0 } }

        func activity(_ activity: Activity, did event: ActivityEvent) {
            switch event {
            case .message:
                let isFirst = state.withLock { state in
                    state.messages += 1
                    return state.messages == 1
                }
                guard isFirst else { return }
                for _ in 0..<3000 { activity.report { _ in StreamMessage(.received, isText: true) } }
            case .note(let note): state.withLock { $0.notes.append(note.message) }
            case .willStop, .didStop: state.withLock { $0.ends += 1 }
            default: break
            }
        }
    }

    @Test("the messages that wait for a slow accessory are bounded, and a note has the number of dropped messages")
    func waitingMessages() async throws {
        let echo = Echo()
        let reporting = ClosureFilter(.call) { exchange, next in
            exchange.activity.report { _ in StreamMessage(.received, isText: true) }
            return try await next(exchange)
        }
        let agent = NetworkAgent(
            baseURL: base, transport: .stub(.text("x")), filters: [reporting], accessories: [echo])
        _ = try await agent.send(Plain())
        #expect(echo.known.messages == 1025 && echo.known.ends == 2)
        let dropped = "1976 messages were dropped, because the accessories are too slow for them"
        #expect(echo.known.notes == [dropped])
    }

    @Test("nested configuration changes are applied once, and both persist")
    func nested() {
        let agent = NetworkAgent(baseURL: base, transport: .stub)
        agent.configure { outer in
            agent.configure { inner in
                inner.headers.add("X-Inner", "1")
                inner.timeout = .seconds(5)
            }
            outer.headers.add("X-Outer", "1")
        }
        let headers = agent.configuration.headers
        #expect(headers.values(of: "X-Inner") == ["1"] && headers.values(of: "X-Outer") == ["1"])
        #expect(agent.configuration.timeout == .seconds(5))
    }

    @Test("a change that throws has no effect")
    func throwing() {
        struct Refused: Error {}
        let agent = NetworkAgent(baseURL: base, transport: .stub)
        #expect(throws: Refused.self) {
            try agent.configure {
                $0.timeout = .seconds(1)
                throw Refused()
            }
        }
        #expect(agent.configuration.timeout == .seconds(60))
    }

    @Test("changes from many tasks at once are all kept")
    func concurrent() async {
        let agent = NetworkAgent(baseURL: base, transport: .stub)
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<200 {
                group.addTask {
                    agent.configure { $0.headers.add("X-Number", "\(number)") }
                }
            }
        }
        #expect(Set(agent.configuration.headers.values(of: "X-Number")).count == 200)
        #expect(agent.configuration.headers.values(of: "X-Number").count == 200)
    }

    @Test("a filter that a change releases can use its agent")
    func lettingGo() throws {
        struct Held: Filter {
            let farewell: Farewell
            func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
        }
        let agent = NetworkAgent(baseURL: base, transport: .stub)
        let read = Log<String>()
        agent.configure { configuration in
            configuration.filters = [Held(farewell: Farewell { read.add(agent.configuration.baseURL) })]
        }
        agent.configure { $0.filters = [] }
        #expect(read.all == [base])
    }

    @Test("a check and a request that are released with their activity can access it")
    func activityEnd() async throws {
        let seen = Log<String>()
        let filter = ClosureFilter { exchange, next in
            let activity = exchange.activity
            for _ in 0..<2 {
                let farewell = Farewell { seen.add("check \(activity.isCancelled) \(activity.outcome == nil)") }
                exchange.checks.add(ResponseCheck("held") { _ in withExtendedLifetime(farewell) {} })
            }
            var exchange = exchange
            let farewell = Farewell { seen.add("body \(activity.isCancelled)") }
            exchange.http.body = .stream {
                withExtendedLifetime(farewell) { HTTPBody(Data("x".utf8)) }
            }
            return try await next(exchange)
        }
        let agent = NetworkAgent(
            baseURL: base, transport: .stub(StubResponse.text("x")), filters: [filter])
        _ = try await agent.send(Plain { $0.method = .post })
        #expect(seen.all.filter { $0.hasPrefix("check false") }.count == 2)
    }

    @Test("conditions, accessories, listeners and completions may use the agent that calls them")
    func callbacks() async throws {
        struct Looking: Accessory {
            let look: @Sendable () -> Void
            func activity(_ activity: Activity, did event: ActivityEvent) { look() }
        }
        let held = Mutex<NetworkAgent?>(nil)
        let look: @Sendable () -> Void = {
            guard let agent = held.withLock({ $0 }) else { return }
            agent.configure { $0.timeout = .seconds(9) }
            agent.cancelAll { activity in
                _ = (agent.activities, activity.progress, activity.outcome)
                return false
            }
        }
        let transport = StubTransport(
            .text("x").reporting(.progress(TransferProgress(received: 1)), .informational(status: 103, headers: [:])))
        let agent = NetworkAgent(baseURL: base, transport: transport, accessories: [Looking(look: look)])
        held.withLock { $0 = agent }
        defer { held.withLock { $0 = nil } }
        let ended = Gate()
        let completion = Completion<Response<Data>> { _, _ in
            look()
            ended.open()
        }
        let handle = agent.start(
            Plain { $0.deadline = .seconds(3600) }, options: CallOptions(progress: { _ in look() }),
            completion: completion)
        _ = try await handle.value
        try await ended.wait()
        #expect(agent.configuration.timeout == .seconds(9))
    }

    @Test("a time source can use the agent when a wait is cancelled")
    func timeSource() async throws {
        struct Asking: TimeSource {
            let agent = Log<NetworkAgent>()
            var now: ContinuousClock.Instant {
                for agent in agent.all { _ = agent.activities }
                return .now
            }
            var date: Date { Date() }
            func sleep(until instant: ContinuousClock.Instant) async throws {
                try await withTaskCancellationHandler {
                    try await Task.sleep(until: instant, clock: .continuous)
                } onCancel: {
                    for agent in agent.all { _ = agent.activities }
                }
            }
        }
        let time = Asking()
        let gate = Gate()
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("x").waiting(for: gate)), time: time)
        time.agent.add(agent)
        // Each deadline is earlier than the previous one and replaces its timer.
        let handles = (0..<5).map { number in agent.start(Plain { $0.deadline = .seconds(3600 - number) }) }
        gate.open()
        for handle in handles { _ = try await handle.value }
        time.agent.removeAll()
    }
}
