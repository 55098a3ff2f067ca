import Errand
import ErrandCache
import ErrandEssentials
import ErrandRetry
import ErrandTesting
import Synchronization
import Testing

/// Mistakes of other retries and limits; the reports are in Tests/Lessons.md.
@Suite("Mistakes of other retries and limits", .endsInTime, .leakChecked) struct RetryReportTests {
    @Test(
        "a body that can be read once isn't sent again, not even as an empty body",
        arguments: [HTTPMethod.put, .post, .delete])
    func oneShotBodies(method: HTTPMethod) async throws {
        let bodies = Log<String>()
        for status in [503, 429, 0] {
            let wire = Wire { number, request, _ in
                bodies.add(String(decoding: try await request.body.open().collect(upTo: 100), as: UTF8.self))
                if status == 0 { throw ErrandError(.connectionLost, "cut") }
                return response(request, number == 1 ? status : 200)
            }
            let agent = NetworkAgent(wire, [.retry(policy { $0.backoff = .none })])
            let left = Mutex<[String]>(["one ", "two"])
            let call = Get {
                $0.method = method
                $0.body = .stream(
                    HTTPBody { left.withLock { $0.isEmpty ? nil : Data($0.removeFirst().utf8) } })
            }
            let end = await failure { try await agent.send(call) }
            #expect(end == (status == 0 ? "connectionLost" : "\(status)") && wire.sent == 1)
        }
        #expect(bodies.all == Array(repeating: "one two", count: 3))
    }

    @Test("a limit for each period isn't confused by a clock that is set back or forward")
    func clockSetBack() async throws {
        let time = ManualTimeSource()
        let wire = Wire { _, request, _ in response(request) }
        let agent = NetworkAgent(wire, [.hostLimit(HostLimits(rate: RequestRate(2, per: .seconds(10))))], time)
        for _ in 0..<2 { _ = try await agent.send(Get()) }
        for jump in [-172_800.0, 172_800, -3_600] {
            time.date += jump
            let waiting = agent.sending()
            try await eventually { time.sleeperCount == 1 }
            #expect(time.nextWake == time.now.advanced(by: .seconds(10)))
            time.advance(by: .seconds(10))
            #expect(await outcome(waiting) == "ok")
            _ = try await agent.send(Get())
        }
        #expect(wire.sent == 8)
    }

    @Test(
        "a Retry-After with a date that has passed on its way doesn't end the attempts, and no wait is negative",
        arguments: [
            "Tue, 14 Nov 2023 22:13:20 GMT", "Tue, 14 Nov 2023 22:13:19 GMT", "Tue, 14 Nov 2023 22:12:50 GMT",
            "Mon, 10 Oct 2022 22:13:20 GMT",
        ])
    func pastDates(value: String) async throws {
        let time = ManualTimeSource(date: Date(timeIntervalSince1970: 1_700_000_000))
        let wire = Wire { number, request, _ in
            response(request, number == 1 ? 503 : 200, number == 1 ? ["Retry-After": value] : [:])
        }
        let task = NetworkAgent(wire, [.retry(policy())], time).sending()
        try await eventually { time.sleeperCount == 1 }
        let wake = try #require(time.nextWake)
        #expect(wake >= time.now && wake <= time.now.advanced(by: .seconds(1)))
        time.advance(by: .seconds(1))
        #expect(await outcome(task) == "ok")
    }

    @Test("after a long time without requests, a host gets as many at once as its rate allows, and no more")
    func longIdleTime() async throws {
        let time = ManualTimeSource()
        let wire = Wire { _, request, _ in response(request) }
        let limits = HostLimits(rate: RequestRate(3, per: .milliseconds(1)))
        for limits in [limits, HostLimits(rate: RequestRate(3, per: .seconds(60)))] {
            let agent = NetworkAgent(wire, [.hostLimit(limits)], time)
            let before = wire.sent
            for _ in 0..<3 { _ = try await agent.send(Get()) }
            time.advance(by: .seconds(40 * 365 * 86_400))
            for _ in 0..<3 { _ = try await agent.send(Get()) }
            let waiting = agent.sending()
            try await eventually { time.sleeperCount == 1 }
            #expect(wire.sent == before + 6)
            time.advance(by: .seconds(60))
            #expect(await outcome(waiting) == "ok")
        }
    }

    @Test("asking often, and being refused, doesn't move the time at which the rate allows the next request")
    func askingOften() async throws {
        let time = ManualTimeSource()
        let wire = Wire { _, request, _ in response(request) }
        let agent = NetworkAgent(wire, [.hostLimit(HostLimits(rate: RequestRate(1, per: .seconds(10))))], time)
        _ = try await agent.send(Get())
        for _ in 0..<99 {
            time.advance(by: .milliseconds(100))
            #expect(await failure { try await agent.send(Get { $0.deadline = .milliseconds(1) }) } == "waitTooLong")
        }
        time.advance(by: .milliseconds(100))
        #expect(try await agent.send(Get()).value == "ok" && wire.sent == 2)
    }

    @Test(
        "a failure that may be stored isn't served to its own retry, and no stored response is newer than the server's",
        arguments: [503, 429, 404], [false, true])
    func storedFailure(status: Int, isStoredBefore: Bool) async throws {
        let (stub, time) = (StubTransport(), ManualTimeSource())
        let failure = StubResponse.status(status).header("Cache-Control", "max-age=60").header("ETag", "\"down\"")
        stub.on("/x", response: failure, .text("up").header("Cache-Control", "max-age=60"))
        let cache = ResponseCache(MemoryStore(), policy: .http)
        if isStoredBefore {
            let impatient = NetworkAgent(stub, [cache], time)
            for _ in 0..<2 { #expect(await outcome(impatient.sending()) == "\(status)") }
            #expect(stub.received.count == 1)
        }
        let patient = policy { ($0.backoff, $0.statuses) = (.none, [503, 429, 404]) }
        let agent = NetworkAgent(stub, [.retry(patient), cache], time)
        for _ in 0..<2 { #expect(try await agent.send(Get()).value == "up") }
        #expect(stub.received.count == 2)
    }

    @Test("a stored response that a check refuses isn't served to the retry, and a stored redirect is")
    func storedRefusal() async throws {
        let (stub, time) = (StubTransport(), ManualTimeSource())
        stub.on("/x", response: .redirect(to: "/y", status: 301).header("Cache-Control", "max-age=60"))
        stub.on(
            "/y", response: .text("bad").header("Cache-Control", "max-age=60"),
            .text("good").header("Cache-Control", "max-age=60"))
        let check = ResponseCheck("good") { response in
            if response.data == Data("bad".utf8) { throw ErrandError(.checkFailed, "bad", response: response) }
        }
        let repeating = policy {
            ($0.backoff, $0.repeatsError) = (.none, { ($0 as? ErrandError)?.code == .checkFailed })
        }
        let cache = ResponseCache(MemoryStore(), policy: .http)
        let agent = NetworkAgent(stub, [.retry(repeating), cache], time)
        for _ in 0..<2 { #expect(try await agent.send(Get { $0.checks = [check] }).value == "good") }
        #expect(stub.received.map(\.url.path) == ["/x", "/y", "/y"])
    }

    @Test("another attempt gets a stored response that is fresh if the server fails again", arguments: [false, true])
    func storedSuccess(isLost: Bool) async throws {
        let (stub, time) = (StubTransport(), ManualTimeSource())
        let isDown = Mutex(false)
        stub.on("/main", response: .status(503))
        stub.on("/mirror") { _ in
            if !isDown.withLock({ $0 }) { return .text("copy").header("Cache-Control", "max-age=60") }
            return isLost ? .failure(ErrandError(.connectionLost, "")) : .status(502)
        }
        let fallback = ClosureFilter { exchange, next in
            let response = try await next(exchange)
            if response.status != 503 { return response }
            var other = exchange
            other.http.url = try #require(URL(string: "\(base)/mirror"))
            return try await next(other)
        }
        let agent = NetworkAgent(stub, [fallback, ResponseCache(MemoryStore(), policy: .http)], time)
        #expect(try await agent.send(Get("main")).value == "copy")
        isDown.withLock { $0 = true }
        #expect(try await agent.send(Get("main")).value == "copy")
        time.advance(by: .seconds(61))
        #expect(await outcome(agent.sending(Get("main"))) == (isLost ? "connectionLost" : "502"))
    }

    @Test("a retry of a request that must not be sent gets the stored failure again")
    func storedFailureOffline() async throws {
        let (stub, time) = (StubTransport(), ManualTimeSource())
        stub.on("/x", response: StubResponse.status(503).header("Cache-Control", "max-age=60"))
        let cache = ResponseCache(MemoryStore(), policy: .http)
        let agent = NetworkAgent(stub, [.retry(policy(1)), cache], time)
        #expect(await outcome(agent.sending()) == "503")
        let patient = NetworkAgent(stub, [.retry(policy { $0.backoff = .none }), cache], time)
        #expect(await outcome(patient.sending(Get(), .cache(.cacheOnly))) == "503")
        let offline = Get { $0.headers = ["Cache-Control": "only-if-cached"] }
        #expect(await outcome(patient.sending(offline)) == "503")
        #expect(stub.received.count == 1)
    }

    @Test("a request that has a turn of the rate, and waits for a free place, obeys a pause that comes meanwhile")
    func pauseWhileWaiting() async throws {
        let (time, door) = (ManualTimeSource(), Gate())
        let wire = Wire { number, request, _ in
            if number > 1 { return response(request) }
            try await door.wait()
            return response(request, 429, ["Retry-After": "30"])
        }
        let limits = HostLimits(maximumConcurrent: 1, rate: RequestRate(100, per: .seconds(60)))
        let agent = NetworkAgent(wire, [.hostLimit(limits)], time)
        let first = agent.sending()
        try await door.reached()
        let second = agent.sending()
        try await eventually { time.sleeperCount == 1 }
        door.open()
        #expect(await outcome(first) == "429")
        try await eventually { time.nextWake == time.now.advanced(by: .seconds(30)) }
        #expect(wire.sent == 1)
        time.advance(by: .seconds(30))
        #expect(await outcome(second) == "ok")
    }

    @Test("a deadline that ends attempts to connect keeps the last attempt's failure as its cause")
    func deadlineCause() async throws {
        let time = ManualTimeSource()
        let wire = Wire { _, _, _ in throw ErrandError(.cannotConnect, "the connection was refused") }
        let agent = NetworkAgent(wire, [.retry(policy(10))], time)
        let task = Task { try await agent.send(Get { $0.deadline = .seconds(6) }) }
        for _ in 1...2 {
            try await time.waitForSleepers(atLeast: 2)
            time.advance(to: try #require(time.nextWake))
        }
        let result = await task.result
        guard case .failure(let error as ErrandError) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(error.code == .cannotConnect && wire.sent == 3, "\(error)")
    }
}
