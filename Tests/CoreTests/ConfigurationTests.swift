import Errand
import ErrandEssentials
import ErrandTesting
import Testing

@Suite("Configuration and time", .leakChecked) struct ConfigurationTests {
    @Test("an agent has the documented defaults")
    func defaults() {
        let configuration = AgentConfiguration()
        #expect(
            configuration.baseURL == "" && configuration.namedBaseURLs.isEmpty && configuration.authorization == nil)
        #expect(configuration.filters.isEmpty && configuration.accessories.isEmpty && configuration.deadline == nil)
        #expect(configuration.redirects == .standard && configuration.maximumBodyBytes == 64 << 20)
        #expect(configuration.headers.contains(.userAgent))
    }

    @Test(
        "a change takes effect from the next start, and a running request keeps the configuration that it started with")
    func changing() async throws {
        let gate = Gate()
        let stub = StubTransport(.text("x").waiting(for: gate))
        let log = Log<String>()
        let agent = NetworkAgent(baseURL: "https://one.example.com", transport: stub)
        let hold = Gate()
        let holding = ClosureFilter { exchange, next in
            try await hold.wait()
            return try await next(exchange)
        }
        agent.configure { $0.filters = [holding] }
        let running = agent.start(Plain())
        try await hold.reached()
        agent.configure {
            $0.baseURL = "https://two.example.com"
            $0.filters = [Signpost(name: "new", log: log)]
            $0.headers["X-New"] = "yes"
        }
        hold.open()
        gate.open()
        _ = try await running.value
        _ = try await agent.send(Plain())
        #expect(
            stub.received.map(\.url.absoluteString) == [
                "https://one.example.com/plain", "https://two.example.com/plain",
            ])
        #expect(stub.received.map { $0.headers["X-New"] } == [nil, "yes"])
        #expect(log.all == ["new>", "<new"])
    }

    @Test("no initializer creates an unusable agent: without a base URL, it can send absolute URLs")
    func emptyBase() async throws {
        let agent = NetworkAgent(baseURL: "", transport: .stub(.text("x")))
        #expect(try await agent.send(Plain { $0.path = "http://e.com/a" }).http.url.absoluteString == "http://e.com/a")
    }

    @Test("the transport is replaced in one place")
    func transport() async throws {
        struct Echo: Transport {
            func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
                let body = try await request.body.open().collect(upTo: options.maximumBodyBytes)
                return HTTPResponse(to: request, status: 200, headers: request.headers, body: HTTPBody(body))
            }
        }
        let agent = NetworkAgent(baseURL: base, transport: Echo())
        #expect(
            try await agent.send(
                Plain {
                    $0.method = .post; $0.body = .text("echo")
                }
            ).value == Data("echo".utf8))
    }

    @Test(
        "with a timeout of 5 s a response after 3 s arrives, and one after 7 s does not",
        arguments: [(3, true), (7, false)])
    func timeout(delay: Int, comes: Bool) async throws {
        let time = ManualTimeSource()
        let stub = StubTransport(.text("x").delayed(by: .seconds(delay)))
        let agent = NetworkAgent(baseURL: base, transport: stub, time: time)
        let handle = agent.start(Plain { $0.timeout = .seconds(5) })
        try await time.waitForSleepers()
        time.advance(by: .seconds(3))
        if !comes {
            try await time.waitForSleepers()
            time.advance(by: .seconds(4))
        }
        #expect(await code { try await handle.value } == (comes ? nil : .timedOut))
    }

    @Test("an absolute URL passes through the filters too, and ignores the base URL")
    func absolute() async throws {
        let log = Log<String>()
        let stub = StubTransport(.text("x"))
        let agent = NetworkAgent(baseURL: base, transport: stub, filters: [Signpost(name: "f", log: log)])
        _ = try await agent.send(Plain { $0.path = "http://e.com/a" })
        #expect(log.all == ["f>", "<f"] && stub.received.map(\.url.absoluteString) == ["http://e.com/a"])
    }

    @Test("a deadline covers the whole call: filters, waits and all attempts")
    func deadline() async throws {
        let time = ManualTimeSource()
        let recorder = RecordingAccessory()
        let waiting = ClosureFilter { exchange, next in
            for _ in 0..<10 { try await exchange.time.sleep(until: exchange.time.now.advanced(by: .seconds(1))) }
            return try await next(exchange)
        }
        let agent = NetworkAgent(
            baseURL: base, transport: .stub(.text("x")), filters: [waiting], accessories: [recorder], time: time)
        let handle = agent.start(Plain { $0.deadline = .seconds(3) })
        for _ in 0..<3 {
            // One sleeper for the filter, one for the deadline.
            try await time.waitForSleepers(atLeast: 2)
            time.advance(by: .seconds(1))
        }
        #expect(await code { try await handle.value } == .deadlineExceeded)
        #expect(name(handle.outcome) == "failure" && recorder.problems().isEmpty && agent.activities.isEmpty)
    }

    @Test("a thousand deadlines share one timer, and each ends its own call")
    func deadlines() async throws {
        let time = ManualTimeSource()
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("x").delayed(by: .seconds(50))), time: time)
        let handles = (1...1000).map { number in
            agent.start(Plain { $0.deadline = .milliseconds(number * 10) })
        }
        try await time.waitForSleepers(atLeast: 1001)
        #expect(time.sleeperCount == 1001)
        time.advance(by: .seconds(5))
        for handle in handles.prefix(500) { #expect(await code { try await handle.value } == .deadlineExceeded) }
        #expect(handles.suffix(500).filter(\.isRunning).count == 500)
        agent.cancelAll()
        for handle in handles.suffix(500) { #expect(await code { try await handle.value } == .cancelled) }
    }

    @Test(
        "deadlines of any length and sign don't trap",
        arguments: [Duration.seconds(Int64.max), .zero, .seconds(-5), .nanoseconds(1)])
    func extremeDeadlines(deadline: Duration) async throws {
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("x")))
        let result = await code { try await agent.send(Plain { $0.deadline = deadline }) }
        #expect(result == nil || result == .deadlineExceeded)
    }

    @Test("timeouts of any length and sign don't trap", arguments: [endless, .zero - endless, .seconds(Int64.max)])
    func extremeTimeouts(timeout: Duration) async throws {
        /// Adds the timeout to the time, as a transport may.
        struct Adding: Transport {
            let seen: Log<Duration>

            func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
                let end = options.time.now + options.timeout
                seen.add(options.time.now.duration(to: end))
                return HTTPResponse(to: request, status: 204)
            }
        }
        let (seen, given) = (Log<Duration>(), Log<Duration>())
        let noting = ClosureFilter { exchange, next in
            given.add(exchange.timeout)
            return try await next(exchange)
        }
        let agent = NetworkAgent(
            baseURL: base, transport: Adding(seen: seen), filters: [noting], time: ManualTimeSource())
        try await agent.send(
            Plain {
                $0.timeout = timeout
                $0.deadline = endless
            })
        #expect(given.all == [timeout] && seen.all == [timeout.bounded])
    }

    @Test("a time source that fails to sleep delays deadlines, but doesn't cancel them")
    func brokenSleep() async throws {
        let (time, gate) = (BrokenSleep(), Gate())
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("x").waiting(for: gate)), time: time)
        let first = agent.start(Plain { $0.deadline = .milliseconds(1) })
        try await eventually { time.failures.value == 1 }
        time.manual.advance(by: .seconds(1))
        #expect(await code { try await first.value } == .deadlineExceeded)
        let second = agent.start(Plain { $0.deadline = .seconds(1) })
        try await time.manual.waitForSleepers()
        time.manual.advance(by: .seconds(1))
        #expect(await code { try await second.value } == .deadlineExceeded)
    }

    @Test("a deadline that replaces another sets one timer, even if the time source fails to sleep")
    func replacedTimers() async throws {
        final class Sleepless: TimeSource {
            struct Failure: Error {}

            let calls = Counter()

            var now: ContinuousClock.Instant { .now }
            var date: Date { Date() }

            func sleep(until instant: ContinuousClock.Instant) async throws {
                calls.increment()
                throw Failure()
            }
        }
        let (time, gate) = (Sleepless(), Gate())
        // Only the timers of the deadlines sleep.
        let waiting = ClosureFilter { exchange, next in
            try await gate.wait()
            return try await next(exchange)
        }
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("x")), filters: [waiting], time: time)
        for count in 1...20 {
            agent.start(Plain { $0.deadline = .seconds(10_000 - 100 * count) })
            try await eventually { time.calls.value >= count }
        }
        agent.cancelAll()
        #expect(time.calls.value == 20)
    }

    @Test("the timeout of a transport's options is within a hundred years, however it was set")
    func boundedOptions() {
        for timeout in [endless, .zero - endless, .seconds(1)] {
            var options = TransportOptions(timeout: timeout)
            #expect(options.timeout == timeout.bounded)
            options.timeout = .milliseconds(5)
            options.timeout = timeout
            #expect(options.timeout == timeout.bounded)
        }
    }

    @Test("no data of a request is kept after its end")
    func nothingKept() async throws {
        final class Canary: Sendable {}
        struct Carrying: Request {
            let canary: Canary
        }
        let agent = NetworkAgent(baseURL: base, transport: .stub(.text("x")))
        weak var canary: Canary?
        for _ in 0..<10 {
            let carried = Canary()
            canary = carried
            _ = try await agent.send(Carrying(canary: carried))
        }
        // The stub records the sent requests, so only the typed request can be released.
        #expect(canary == nil && agent.activities.isEmpty)
    }

    @Test("a timeout below zero counts as zero, in the transport and in the error")
    func negative() async throws {
        let agent = NetworkAgent(baseURL: base, transport: .stub(StubResponse.text("late").delayed(by: .seconds(1))))
        let error = await #expect(throws: ErrandError.self) {
            try await agent.send(Plain { $0.timeout = .seconds(-5) })
        }
        #expect(error?.code == .timedOut && error?.message.hasSuffix("for 0 s") == true, "\(error?.message ?? "")")
    }
}

/// Almost the longest duration. Its seconds don't fit in 64 bits.
private let endless = Duration.seconds(Int64.max) * 18 + .seconds(4_120_486_797_083_267_000)

private final class BrokenSleep: TimeSource {
    struct Failure: Error {}

    let manual = ManualTimeSource()
    let failures = Counter()

    var now: ContinuousClock.Instant { manual.now }
    var date: Date { manual.date }

    func sleep(until instant: ContinuousClock.Instant) async throws {
        if failures.value == 0 {
            failures.increment()
            throw Failure()
        }
        try await manual.sleep(until: instant)
    }
}
