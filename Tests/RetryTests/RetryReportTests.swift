import Errand
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
}
