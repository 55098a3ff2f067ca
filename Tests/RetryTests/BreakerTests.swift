import Errand
import ErrandEssentials
import ErrandRetry
import ErrandTesting
import Testing

@Suite("The breaker", .endsInTime, .leakChecked) struct BreakerTests {
    private func agent(
        _ wire: Wire, _ time: ManualTimeSource, _ policy: BreakerPolicy = BreakerPolicy(), before: [any Filter] = []
    ) -> NetworkAgent { NetworkAgent(wire, before + [.breaker(policy)], time) }

    @Test("a host that is down gets no requests, then one probe, and all requests after the probe succeeds")
    func probing() async throws {
        let (time, up, door) = (ManualTimeSource(), Log<Bool>(), Gate())
        let wire = Wire { _, request, _ in
            if up.count == 0 { return response(request, 500) }
            try await door.wait()
            return response(request)
        }
        let agent = agent(wire, time)
        for _ in 0..<10 { #expect(await failure { try await agent.send(Get()) } == "500") }
        let error = await #expect(throws: ResilienceError.self) { try await agent.send(Get()) }
        #expect(error?.code == .breakerOpen && error?.remaining == .seconds(5) && wire.sent == 10)
        #expect(error?.description.hasSuffix("requests are rejected for another 5 s") == true)
        #expect(error?.failureSentence == .busy)
        #expect((error as (any Error)? as? any RequestFailure)?.isRetryable == true)
        time.advance(by: .milliseconds(4_999))
        #expect(await failure { try await agent.send(Get()) } == "breakerOpen")
        time.advance(by: .milliseconds(1))
        up.add(true)
        let probe = agent.sending()
        try await door.reached()
        for _ in 0..<20 { #expect(await failure { try await agent.send(Get()) } == "breakerOpen") }
        #expect(wire.sent == 11)
        door.open()
        #expect(await outcome(probe) == "ok")
        for _ in 0..<20 { #expect(try await agent.send(Get()).value == "ok") }
    }

    @Test("a probe that fails doubles the pause, up to its limit")
    func pauses() async throws {
        let time = ManualTimeSource()
        let wire = Wire { _, _, _ in throw ErrandError(.cannotConnect, "") }
        let agent = agent(wire, time)
        for _ in 0..<10 { _ = try? await agent.send(Get()) }
        for pause in [5, 10, 20, 40, 60, 60] {
            time.advance(by: .seconds(pause) - .milliseconds(1))
            #expect(await failure { try await agent.send(Get()) } == "breakerOpen")
            time.advance(by: .milliseconds(1))
            #expect(await failure { try await agent.send(Get()) } == "cannotConnect")
        }
        #expect(wire.sent == 16)
    }

    @Test("accessories receive the new state of the breaker, with its host")
    func notes() async throws {
        let (time, notes, up) = (ManualTimeSource(), Notes(), Log<Bool>())
        let wire = Wire { _, request, _ in response(request, up.count == 0 ? 500 : 200) }
        let agent = NetworkAgent(wire, [.breaker], time, notes)
        for _ in 0..<12 { _ = try? await agent.send(Get()) }
        time.advance(by: .seconds(5))
        _ = try? await agent.send(Get())
        up.add(true)
        time.advance(by: .seconds(10))
        _ = try await agent.send(Get())
        let changes = notes.all.compactMap { $0.details as? BreakerNote }
        #expect(changes.map(\.isOpen) == [true, true, false])
        #expect(Set(changes.map(\.host)) == ["api.example.com:443"])
    }

    @Test("a cancelled probe is replaced by the next request")
    func cancelledProbe() async throws {
        let (time, door) = (ManualTimeSource(), Gate())
        let wire = Wire { number, request, _ in
            if number <= 10 { return response(request, 502) }
            if number == 11 { try await door.wait() }
            return response(request)
        }
        let agent = agent(wire, time)
        for _ in 0..<10 { _ = try? await agent.send(Get()) }
        time.advance(by: .seconds(5))
        let probe = agent.sending()
        try await door.reached()
        probe.cancel()
        #expect(await outcome(probe) == "cancelled")
        #expect(try await agent.send(Get()).value == "ok")
        #expect(try await agent.send(Get()).value == "ok")
    }

    @Test(
        "results that aren't the host's fault don't open it: 404, 429, Retry-After, cancellations, bad certificates"
    )
    func neutral() async throws {
        for kind in 0..<5 {
            let time = ManualTimeSource()
            let wire = Wire { _, request, _ in
                switch kind {
                case 0: return response(request, 404)
                case 1: return response(request, 429)
                case 2: return response(request, 503, ["Retry-After": "1"])
                case 3: throw CancellationError()
                default: throw ErrandError(.insecureConnection, "")
                }
            }
            let agent = agent(wire, time)
            for _ in 0..<40 { _ = try? await agent.send(Get()) }
            #expect(wire.sent == 40)
        }
    }

    @Test("few failures, a low share of failures, or old failures don't open it")
    func shares() async throws {
        let time = ManualTimeSource()
        let mixed = Wire { number, request, _ in response(request, number % 5 < 2 ? 500 : 200) }
        let tolerant = agent(mixed, time)
        for _ in 0..<100 { _ = try? await tolerant.send(Get()) }
        #expect(mixed.sent == 100)
        let slow = Wire { _, request, _ in response(request, 500) }
        let patient = agent(slow, time)
        for _ in 0..<50 {
            for _ in 0..<9 { _ = try? await patient.send(Get()) }
            time.advance(by: .seconds(31))
        }
        #expect(slow.sent == 450)
    }

    @Test("a response to a request that was sent before it opened has no effect")
    func latecomers() async throws {
        let (time, door) = (ManualTimeSource(), Gate())
        let wire = Wire { number, request, _ in
            if number == 1 {
                try await door.wait()
                return response(request)
            }
            return response(request, 500)
        }
        let agent = agent(wire, time)
        let early = agent.sending()
        try await door.reached()
        for _ in 0..<10 { _ = try? await agent.send(Get()) }
        door.open()
        #expect(await outcome(early) == "ok")
        #expect(await failure { try await agent.send(Get()) } == "breakerOpen")
    }

    @Test("other hosts aren't affected, and a retry doesn't repeat a request that a breaker refused")
    func hosts() async throws {
        let time = ManualTimeSource()
        let wire = Wire { _, request, _ in response(request, request.url.host() == "bad.example" ? 500 : 200) }
        let agent = agent(wire, time, before: [.retry(policy { $0.backoff = .none })])
        for _ in 0..<20 { _ = try? await agent.send(Get("https://bad.example/")) }
        #expect(wire.sent == 10)
        #expect(await failure { try await agent.send(Get("https://bad.example/")) } == "breakerOpen")
        #expect(try await agent.send(Get()).value == "ok")
    }

    @Test("invalid policy values don't trap, or leave a host unprotected")
    func nonsense() async {
        let time = ManualTimeSource()
        var policy = BreakerPolicy(
            failureShare: .nan, minimumRequests: -1, window: .seconds(-1), pause: .seconds(Int64.max))
        policy.maximumPause = .seconds(Int64.max)
        let wire = Wire { _, request, _ in response(request, 500) }
        for policy in [policy, BreakerPolicy(failureShare: 0, minimumRequests: 0, window: .zero, pause: .zero)] {
            let agent = agent(wire, time, policy)
            for _ in 0..<5 { _ = try? await agent.send(Get()) }
            #expect(agent.explain(Get()).problems.isEmpty)
        }
    }
}

@Suite("The timeout of an attempt", .endsInTime, .leakChecked) struct AttemptTimeoutTests {
    @Test(
        "an attempt that takes too long is ended, repeated, and counted by the breaker, even if bytes arrive"
    )
    func slow() async throws {
        let (time, ended) = (ManualTimeSource(), Gate())
        let wire = Wire { number, request, options in
            if number > 1 { return response(request) }
            defer { ended.open() }
            for _ in 0..<1_000 { try await options.time.sleep(until: options.time.now.advanced(by: .seconds(1))) }
            return response(request)
        }
        let agent = NetworkAgent(wire, [.retry(policy()), .breaker, .attemptTimeout(.seconds(10))], time)
        let task = agent.sending()
        for _ in 0..<10 {
            try await eventually { time.sleeperCount == 2 }
            time.advance(by: .seconds(1))
        }
        // Wait until only the first wait of the retry is left. The wait of the attempt may begin before the attempt is
        // cancelled.
        try await ended.wait()
        try await eventually { time.sleeperCount == 1 && time.nextWake == time.now.advanced(by: .seconds(1)) }
        time.advance(by: .seconds(1))
        #expect(await outcome(task) == "ok")
        #expect(wire.sent == 2 && time.sleeperCount == 0)
    }

    @Test("its error is a timeout with its own text, and a fast response leaves no timer")
    func error() async throws {
        let time = ManualTimeSource()
        let stub = StubTransport()
        stub.on("/x", response: .text("ok").delayed(by: .seconds(20)))
        stub.on("/quick", response: .text("quick"))
        let agent = NetworkAgent(
            stub,
            [.attemptTimeout(.seconds(10))], time)
        #expect(try await agent.send(Get("quick")).value == "quick")
        #expect(time.sleeperCount == 0)
        let task = agent.sending()
        try await eventually { time.sleeperCount == 2 }
        time.advance(by: .seconds(10))
        let error = await #expect(throws: ErrandError.self) { try await task.value }
        #expect(error?.code == .timedOut && error?.message.contains("10") == true)
        try await eventually { time.sleeperCount == 0 }
    }

    @Test("a cancellation isn't a timeout, and ends the attempt at once")
    func cancelled() async throws {
        let time = ManualTimeSource()
        let agent = NetworkAgent(.stub(.text("late").delayed(by: .seconds(20))), [.attemptTimeout(.seconds(10))], time)
        let task = agent.sending()
        try await eventually { time.sleeperCount == 2 }
        task.cancel()
        #expect(await outcome(task) == "cancelled")
        try await eventually { time.sleeperCount == 0 }
    }
}
