import Errand
import ErrandCache
import ErrandEssentials
import ErrandResumableDownload
import ErrandRetry
import ErrandSystemTransport
import ErrandTesting
import ErrandURLFilters
import Synchronization
import Testing

@Suite("Standard resilience", .endsInTime, .leakChecked) struct ResilienceTests {
    private struct Cancelled: Error {}

    @Test("one line installs retry, host limit, breaker and attempt timeout, in the order that works")
    func order() {
        let agent = NetworkAgent(.stub(.text("ok")), [.standardResilience])
        let explanation = agent.explain(Get())
        #expect(
            explanation.steps.map(\.description) == [
                "call  retries, at most 3 attempts", "call  redirects, at most 20",
                "wire  host limit: pauses a host that sent Retry-After, at most 64 requests at once",
                "wire  breaker: opens if 50 % of 10 requests or more to a host fail",
                "wire  ends an attempt after 30 s", "hop   transport StubTransport",
            ])
        #expect(explanation.problems.isEmpty)
    }

    @Test("wrong orders are named by explain with the reason, and right orders aren't")
    func problems() {
        let limits = HostLimits(maximumConcurrent: 1)
        let faults = FaultInjectionFilter(seed: 1)
        let wrong: [([any Filter], String)] = [
            ([.cache(.memory()), .retry], "stale"),
            ([.cache(.memory()), .standardResilience], "stale"),
            ([.urls(.sign(key: "k")), .retry], "signature"),
            ([.hedge, .retry], "retried separately"),
            ([.urls(.sign(key: "k")), .hedge], "the same signature"),
            ([.hedge, .hedge], "hedged again"),
            ([.attemptTimeout(.seconds(1)), .hostLimit(limits)], "waiting at the host limit"),
            ([.attemptTimeout(.seconds(1)), .breaker], "doesn't count"),
            ([.breaker, .hostLimit(limits)], "probe"),
            ([faults, .standardResilience], "the breaker doesn't see"),
            ([.standardResilience, .retry], "both filters retry"),
            ([.breaker, .breaker], "either can reject it"),
        ]
        for (filters, reason) in wrong {
            let problems = NetworkAgent(.stub(.text("ok")), filters).explain(Get()).problems
            #expect(problems.contains { $0.contains(reason) }, "\(reason): \(problems)")
        }
        let right: [any Filter] = [
            .standardResilience, .hedge, .urls(.sign(key: "k")), .cache(.memory()), faults,
        ]
        #expect(NetworkAgent(.stub(.text("ok")), right).explain(Get()).problems.isEmpty)
    }

    @Test("a download retries itself, and the agent's retry doesn't")
    func downloads() async throws {
        struct File: DownloadRequest {
            let destination: URL
            let path = "file"
            var downloadOptions: DownloadOptions? {
                DownloadOptions(retry: TransferRetryPolicy(maximumFailures: 3, backoff: .none))
            }
        }
        let orders: [([any Filter], Int)] = [
            ([.retry(policy(3) { $0.backoff = .none })], 4),
            ([.standardResilience { $0.retry = policy(3) { $0.backoff = .none } }], 4),
            // Here the retry filter is the inner one.
            ([.downloads, .retry(policy(3) { $0.backoff = .none })], 3),
        ]
        for (filters, expected) in orders {
            for response in [StubResponse.status(503), .failure(ErrandError(.connectionLost, ""))] {
                let place = FileManager.default.temporaryDirectory
                    .appending(path: "errand-retry-\(UInt64.random(in: 0 ... .max))")
                let stub = StubTransport(response)
                let agent = NetworkAgent(baseURL: base, transport: stub, filters: filters)
                _ = try? await agent.send(File(destination: place))
                #expect(stub.received.count == expected, "\(filters)")
            }
        }
    }

    @Test("an open breaker allows a cache to respond, even with a stale response")
    func cacheWhileOpen() async throws {
        struct News: CacheableRequest {
            typealias Output = String
            let path = "news"
            var cachePolicy: CachePolicy { .timed(.seconds(60)) }
        }
        let time = ManualTimeSource()
        let wire = Wire { number, request, _ in response(request, number == 1 ? 200 : 500) }
        let cache = ResponseCache(MemoryStore(), time: time)
        let agent = NetworkAgent(wire, [.standardResilience { $0.retry = .off }, cache], time)
        #expect(try await agent.send(News()).value == "ok")
        for _ in 0..<10 { _ = try? await agent.send(Get()) }
        #expect(await failure { try await agent.send(Get()) } == "breakerOpen")
        #expect(try await agent.send(News()).value == "ok")
        // One of ten succeeded.
        #expect(wire.sent == 10)
    }

    @Test("a failing server gets at most 1.1 times the calls through the standard filters, on a real socket")
    func server() async throws {
        let server = try TestServer()
        server.on("*", .status(500))
        let agent = NetworkAgent(
            baseURL: server.url, transport: .system,
            filters: [
                .standardResilience { options in
                    options.retry.backoff = Backoff(base: .milliseconds(1))
                    // An open breaker must stay open on a slow machine, too.
                    options.breaker?.window = .seconds(3600)
                    options.breaker?.pause = .seconds(3600)
                    options.breaker?.maximumPause = .seconds(3600)
                }
            ])
        await withTaskGroup { group in
            for number in 0..<200 { group.addTask { _ = try? await agent.send(Get("\(number)")) } }
        }
        #expect(server.requestCount <= 220)
        #expect(await failure { try await agent.send(Get()) } == "breakerOpen")
    }

    @Test("a recovered server is used again: 503 with Retry-After, then responses, on a real socket")
    func recovery() async throws {
        let server = try TestServer()
        let count = Atomic(0)
        server.on("/x") { _ in
            count.add(1, ordering: .sequentiallyConsistent).newValue == 1
                ? .status(503).header("Retry-After", "1") : .text("well")
        }
        let agent = NetworkAgent(baseURL: server.url, transport: .system, filters: [.standardResilience])
        #expect(try await agent.send(Get()).value == "well")
        #expect(server.requestCount == 2)
    }

    @Test("random calls through all filters each end once, without endless waits, and with all attempts counted")
    func interleavings() async throws {
        for seed in UInt64(0)..<10 {
            let (time, recording) = (ManualTimeSource(), RecordingAccessory(maximumRecords: 1_000_000))
            let wire = Wire { number, request, options in
                var dice = SeededGenerator(seed: seed &* 7_919 &+ UInt64(number))
                let wait = Duration.milliseconds(Int.random(in: 0...30, using: &dice))
                try await options.time.sleep(until: options.time.now.advanced(by: wait))
                return response(request)
            }
            let faults = FaultInjectionFilter(
                seed: seed, failing: 0.3,
                with: [.status(503), .status(503, headers: ["Retry-After": "1"]), .error(.connectionLost), .stall],
                slow: 0.1, by: .seconds(2))
            let filters: [any Filter] = [
                .standardResilience {
                    ($0.limits.maximumConcurrent, $0.attemptTimeout) = (5, .seconds(3))
                    $0.limits.maximumWait = .seconds(600)
                },
                .hedge, faults,
            ]
            let agent = NetworkAgent(wire, filters, time, recording)
            var dice = SeededGenerator(seed: seed)
            let handles = (0..<500).map { number in
                agent.start(Get("\(number)") { $0.deadline = number % 3 == 0 ? .seconds(5) : nil })
            }
            let clock = Task {
                while !Task.isCancelled {
                    time.advance(by: .milliseconds(50))
                    await Task.yield()
                }
            }
            for _ in 0..<50 {
                handles[Int.random(in: 0..<handles.count, using: &dice)].cancel()
                await Task.yield()
            }
            for handle in handles { _ = try? await handle.value }
            clock.cancel()
            await clock.value
            try await recording.waitUntilQuiet()
            #expect(recording.problems().isEmpty, "seed \(seed)")
            #expect(agent.activities.isEmpty)
            try await eventually {
                time.advance(by: .seconds(1))
                return time.sleeperCount == 0
            }
        }
    }
}

@Suite("Fault injection", .endsInTime, .leakChecked) struct FaultTests {
    private func run(_ seed: UInt64, _ calls: Int = 200) async -> [String] {
        let faults = FaultInjectionFilter(seed: seed, failing: 0.25, with: [.status(503), .error(.connectionLost)])
        let agent = NetworkAgent(.stub(.text("ok")), [faults])
        var outcomes: [String] = []
        for _ in 0..<calls { outcomes.append(await outcome(agent.sending())) }
        return outcomes
    }

    @Test("a seed determines everything, and about the configured share fails")
    func seeds() async {
        let (first, second) = (await run(7), await run(8))
        #expect(await run(7) == first && first != second)
        let failed = first.count { $0 != "ok" }
        #expect((25...75).contains(failed))
        #expect(Set(first) == ["ok", "503", "connectionLost"])
    }

    @Test("a delayed request waits on the agent's clock, and a stall ends at the request's timeout")
    func slow() async throws {
        let time = ManualTimeSource()
        let slow = FaultInjectionFilter(seed: 1, slow: 1, by: .seconds(2))
        let late = NetworkAgent(.stub(.text("ok")), [slow], time).sending()
        try await eventually { time.sleeperCount == 1 }
        time.advance(by: .seconds(2))
        #expect(await outcome(late) == "ok")
        let stall = FaultInjectionFilter(seed: 1, failing: 1, with: [.stall])
        let stuck = NetworkAgent(.stub(.text("ok")), [stall], time).sending(Get { $0.timeout = .seconds(9) })
        try await eventually { time.sleeperCount == 1 }
        #expect(time.nextWake == time.now.advanced(by: .seconds(9)))
        time.advance(by: .seconds(9))
        #expect(await outcome(stuck) == "timedOut")
    }

    @Test("only matching requests are affected, and invalid shares inject no faults or always do")
    func applies() async {
        let faults = FaultInjectionFilter(seed: 1, failing: 7) { $0.url.path() == "/x" }
        let agent = NetworkAgent(.stub(.text("ok")), [faults])
        #expect(await outcome(agent.sending(Get("y"))) == "ok")
        #expect(await outcome(agent.sending()) == "503")
        let nothing = NetworkAgent(.stub(.text("ok")), [FaultInjectionFilter(seed: 1, failing: .nan, with: [])])
        #expect(await outcome(nothing.sending()) == "ok")
    }
}
