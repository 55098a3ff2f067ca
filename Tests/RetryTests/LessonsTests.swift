import Errand
import ErrandEssentials
import ErrandRetry
import ErrandTesting
import ErrandURLFilters
import Synchronization
import Testing

/// Behavior that users of other libraries missed; the reports are in Tests/Lessons.md.
@Suite("Retries, limits and breakers in daily use", .endsInTime, .leakChecked) struct RetryLessonsTests {
    @Test("a delay without a base stays zero after any number of failures")
    func zeroBase() {
        for count in [1, 2, 10, 1025, 100_000, .max] {
            for factor in [0, 1, 2, 1e300, .infinity] {
                let backoff = Backoff(base: .zero, factor: factor, maximumDelay: .seconds(60))
                #expect(backoff.delay(afterFailures: count, random: 1) == .zero)
            }
        }
    }

    @Test(
        "a Retry-After that isn't a number of seconds or a date is ignored, and the backoff applies",
        arguments: ["1m0s", "5s", "5.0", "0x5", "\u{665}", "PT5S", "2026-11-28T18:00:00Z"])
    func oddWaits(value: String) async throws {
        let time = ManualTimeSource()
        let stub = StubTransport()
        stub.on("/x", response: .status(503).header("Retry-After", value), .text("ok"))
        let agent = NetworkAgent(stub, [.retry(policy())], time)
        let task = agent.sending()
        try await time.waitForSleepers()
        #expect(time.nextWake == time.now.advanced(by: .seconds(1)))
        time.advance(by: .seconds(1))
        #expect(try await task.value == "ok")
    }

    @Test(
        "a Retry-After with a date is read by the server's clock, not the device's clock",
        arguments: [-86_400, -3600, 0, 3600, 86_400])
    func otherClock(difference: Int) async throws {
        let time = ManualTimeSource(date: Date(timeIntervalSince1970: 784_111_777 + Double(difference)))
        let stub = StubTransport()
        let busy = StubResponse.status(503).header("Date", "Sun, 06 Nov 1994 08:49:37 GMT")
            .header("Retry-After", "Sun, 06 Nov 1994 08:49:47 GMT")
        stub.on("/x", response: busy, .text("ok"))
        let agent = NetworkAgent(stub, [.retry(policy())], time)
        let task = agent.sending()
        try await time.waitForSleepers()
        #expect(time.nextWake == time.now.advanced(by: .seconds(10)))
        time.advance(by: .seconds(10))
        #expect(try await task.value == "ok")
    }

    @Test("each attempt opens the body again and sends all of it")
    func wholeBodies() async throws {
        let sent = Log<String>()
        let wire = Wire { number, request, _ in
            sent.add(String(decoding: try await request.body.open().collect(upTo: 100), as: UTF8.self))
            return response(request, number < 3 ? 503 : 200)
        }
        let agent = NetworkAgent(wire, [.retry(policy { $0.backoff = .none })])
        let parts = ["one ", "two ", "three"]
        let put = Get {
            $0.method = .put
            $0.body = .stream {
                let left = Mutex(parts[...])
                return HTTPBody { left.withLock { $0.popFirst().map { Data($0.utf8) } } }
            }
        }
        #expect(try await agent.send(put).value == "ok")
        #expect(sent.all == Array(repeating: "one two three", count: 3))
    }

    @Test("a signature inside the retry is computed for each attempt, with the time of that attempt")
    func signatures() async throws {
        let time = ManualTimeSource(date: Date(timeIntervalSince1970: 1_700_000_000))
        let stub = StubTransport(.status(503))
        let signer = Signer(key: "secret", signature: "X-Signature", timestamp: "X-Timestamp")
        let agent = NetworkAgent(stub, [.retry(policy()), .headers(signedBy: signer)], time)
        let task = agent.sending()
        for wait in [1, 2] {
            try await time.waitForSleepers()
            time.advance(by: .seconds(wait))
        }
        #expect(await outcome(task) == "503")
        #expect(stub.received.map { $0.headers["X-Timestamp"] } == ["1700000000", "1700000001", "1700000003"])
        #expect(Set(stub.received.map { $0.headers["X-Signature"] }).count == 3)
    }

    @Test("a deadline that passes during an attempt ends the call, and no attempt follows")
    func deadline() async throws {
        let time = ManualTimeSource()
        let wire = Wire { _, request, options in
            try await options.time.sleep(until: options.time.now.advanced(by: .seconds(100)))
            return response(request)
        }
        let agent = NetworkAgent(wire, [.retry(policy(9))], time)
        let task = agent.sending(Get { $0.deadline = .seconds(5) })
        try await eventually { time.sleeperCount == 2 }
        time.advance(by: .seconds(5))
        #expect(await outcome(task) == "deadlineExceeded")
        #expect(wire.sent == 1)
        try await eventually { time.sleeperCount == 0 }
    }

    // MARK: The breaker

    @Test("a host that never responds opens the breaker if the deadlines of its calls end the attempts")
    func deadlinesCount() async throws {
        let time = ManualTimeSource()
        let wire = Wire { _, request, options in
            try await options.time.sleep(until: options.time.now.advanced(by: .seconds(100)))
            return response(request)
        }
        let agent = NetworkAgent(wire, [.breaker], time)
        let calls = (0..<10).map { _ in agent.sending(Get { $0.deadline = .seconds(5) }) }
        try await eventually { wire.sent == 10 && time.sleeperCount == 11 }
        time.advance(by: .seconds(5))
        for call in calls { #expect(await outcome(call) == "deadlineExceeded") }
        #expect(await failure { try await agent.send(Get()) } == "breakerOpen")
        #expect(wire.sent == 10)
    }

    @Test("a deadline that leaves an attempt less than a second doesn't count against the host")
    func shortDeadlines() async throws {
        let time = ManualTimeSource()
        let wire = Wire { _, request, options in
            try await options.time.sleep(until: options.time.now.advanced(by: .seconds(100)))
            return response(request)
        }
        let agent = NetworkAgent(wire, [.breaker], time)
        let calls = (0..<20).map { _ in agent.sending(Get { $0.deadline = .milliseconds(900) }) }
        try await eventually { wire.sent == 20 && time.sleeperCount == 21 }
        time.advance(by: .milliseconds(900))
        for call in calls { #expect(await outcome(call) == "deadlineExceeded") }
        let next = agent.sending()
        try await eventually { wire.sent == 21 }
        next.cancel()
        #expect(await outcome(next) == "cancelled")
    }

    @Test("calls that users cancel don't count, however long they ran")
    func cancellations() async throws {
        let time = ManualTimeSource()
        let wire = Wire { _, request, options in
            try await options.time.sleep(until: options.time.now.advanced(by: .seconds(100)))
            return response(request)
        }
        let agent = NetworkAgent(wire, [.breaker], time)
        let calls = (0..<20).map { _ in agent.sending(Get { $0.deadline = .seconds(60) }) }
        try await eventually { wire.sent == 20 && time.sleeperCount == 21 }
        time.advance(by: .seconds(30))
        for call in calls { call.cancel() }
        for call in calls { #expect(await outcome(call) == "cancelled") }
        let next = agent.sending()
        try await eventually { wire.sent == 21 }
        next.cancel()
        _ = await next.result
    }

    @Test("a probe that hangs until its deadline has failed, and the pause doubles")
    func hangingProbe() async throws {
        let time = ManualTimeSource()
        let wire = Wire { number, request, options in
            if number <= 10 { return response(request, 500) }
            try await options.time.sleep(until: options.time.now.advanced(by: .seconds(100)))
            return response(request)
        }
        let agent = NetworkAgent(wire, [.breaker], time)
        for _ in 0..<10 { _ = try? await agent.send(Get()) }
        time.advance(by: .seconds(5))
        let probe = agent.sending(Get { $0.deadline = .seconds(5) })
        try await eventually { wire.sent == 11 && time.sleeperCount == 2 }
        time.advance(by: .seconds(5))
        #expect(await outcome(probe) == "deadlineExceeded")
        let error = await #expect(throws: ResilienceError.self) { try await agent.send(Get()) }
        #expect(error?.code == .breakerOpen && error?.remaining == .seconds(10))
    }

    @Test(
        "a probe that ends without success or failure is replaced by the next request",
        arguments: [ErrandError.Code.insecureConnection, .invalidRequest, .bodyTooLarge])
    func undecidedProbe(code: ErrandError.Code) async throws {
        let time = ManualTimeSource()
        let wire = Wire { number, request, _ in
            if number <= 10 { return response(request, 500) }
            if number <= 13 { throw ErrandError(code, "") }
            return response(request)
        }
        let agent = NetworkAgent(wire, [.breaker], time)
        for _ in 0..<10 { _ = try? await agent.send(Get()) }
        time.advance(by: .seconds(5))
        for _ in 0..<3 { #expect(await failure { try await agent.send(Get()) } == "\(code)") }
        for _ in 0..<3 { #expect(try await agent.send(Get()).value == "ok") }
        #expect(wire.sent == 16)
    }

    @Test("if many requests arrive while a breaker is half open, one is sent")
    func stampede() async throws {
        let (time, door) = (ManualTimeSource(), Gate())
        let wire = Wire { number, request, _ in
            if number <= 10 { return response(request, 500) }
            try await door.wait()
            return response(request)
        }
        let agent = NetworkAgent(wire, [.breaker], time)
        for _ in 0..<10 { _ = try? await agent.send(Get()) }
        time.advance(by: .seconds(5))
        let outcomes = try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<100 { group.addTask { await outcome(agent.sending()) } }
            var outcomes: [String] = []
            // All but the probe are refused while it is on its way.
            for _ in 0..<99 { outcomes.append(try await group.next() ?? "") }
            door.open()
            outcomes.append(try await group.next() ?? "")
            return outcomes
        }
        #expect(outcomes.count { $0 == "breakerOpen" } == 99 && outcomes.last == "ok" && wire.sent == 11)
    }

    @Test("each attempt of a call counts for a breaker inside its retry")
    func retriesCount() async throws {
        let time = ManualTimeSource()
        let wire = Wire { _, request, _ in response(request, 500) }
        let agent = NetworkAgent(
            wire, [.retry(policy { $0.backoff = .none }), .breaker(BreakerPolicy(minimumRequests: 4))], time)
        // The first call makes three attempts, and the second call makes one.
        for _ in 0..<2 { _ = try? await agent.send(Get()) }
        #expect(wire.sent == 4)
        #expect(await failure { try await agent.send(Get()) } == "breakerOpen")
    }

    // MARK: Host limits

    @Test("a rate of three a minute sends three at once and the next after a minute")
    func bursts() async throws {
        let (time, sent) = (ManualTimeSource(), Log<Duration>())
        let begin = time.now
        let wire = Wire { _, request, options in
            sent.add(begin.duration(to: options.time.now))
            return response(request)
        }
        let agent = NetworkAgent(
            wire, [.hostLimit(HostLimits(rate: RequestRate(3, per: .seconds(60))))], time)
        for _ in 0..<3 { #expect(try await agent.send(Get()).value == "ok") }
        let next = agent.sending()
        try await time.waitForSleepers()
        time.advance(by: .seconds(60))
        #expect(try await next.value == "ok")
        #expect(sent.all == [.zero, .zero, .zero, .seconds(60)])
    }

    @Test("calls that are cancelled while waiting release their turns, so later calls don't wait for them")
    func cancelledTurns() async throws {
        let (time, door) = (ManualTimeSource(), Gate())
        let wire = Wire { number, request, _ in
            if number == 1 { try await door.wait() }
            return response(request)
        }
        let agent = NetworkAgent(wire, [.hostLimit(HostLimits(maximumConcurrent: 1))], time)
        let first = agent.sending()
        try await door.reached()
        let waiting = (0..<50).map { _ in agent.sending() }
        let last = agent.sending()
        for call in waiting { call.cancel() }
        for call in waiting { #expect(await outcome(call) == "cancelled") }
        door.open()
        #expect(await outcome(first) == "ok")
        #expect(await outcome(last) == "ok" && wire.sent == 2)
    }
}
