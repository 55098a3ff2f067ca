import Errand
import ErrandEssentials
import ErrandRetry
import ErrandTesting
import Testing

@Suite("A host that asks for a pause", .endsInTime, .leakChecked) struct HostPauseTests {
    private func wire(_ value: String, _ status: Int = 503) -> Wire {
        Wire { number, request, _ in
            number == 1 ? response(request, status, ["Retry-After": value]) : response(request)
        }
    }

    @Test(
        "each request to a host waits after a Retry-After, with only a retry and in the standard order",
        arguments: [true, false])
    func peace(standard: Bool) async throws {
        let time = ManualTimeSource()
        let wire = wire("2")
        let agent = NetworkAgent(wire, standard ? [.standardResilience] : [.retry], time)
        let first = agent.sending()
        // Only the pause is left, not the timer of the attempt.
        try await eventually { time.sleeperCount == 1 && time.nextWake == time.now.advanced(by: .seconds(2)) }
        #expect(wire.sent == 1)
        let others = (0..<50).map { agent.sending(Get("other/\($0)")) }
        try await eventually { time.sleeperCount >= 51 }
        time.advance(by: .milliseconds(1_999))
        for _ in 0..<100 { await Task.yield() }
        #expect(wire.sent == 1)
        time.advance(by: .milliseconds(1))
        for task in [first] + others { #expect(await outcome(task) == "ok") }
        #expect(wire.sent == 52 && time.sleeperCount == 0)
    }

    @Test("requests to other hosts and other ports don't wait")
    func otherHosts() async throws {
        let time = ManualTimeSource()
        let wire = wire("2")
        let agent = NetworkAgent(wire, [.retry], time)
        let first = agent.sending()
        try await eventually { time.sleeperCount == 1 }
        for url in ["https://www.example.com/", "https://api.example.com:8443/", "http://api.example.com/"] {
            #expect(try await agent.send(Get(url)).value == "ok")
        }
        let same = agent.sending(Get("HTTPS://API.example.com:443/y"))
        try await eventually { time.sleeperCount == 2 }
        time.advance(by: .seconds(2))
        #expect(await outcome(first) == "ok")
        #expect(await outcome(same) == "ok")
    }

    @Test("a pause in another filter's error is obeyed")
    func foreignFailure() async throws {
        struct Refusing: Filter {
            struct Failure: RequestFailure {
                let response: HTTPResponse?
                var isRetryable: Bool { false }
            }
            func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
                let response = try await next(exchange)
                if response.status == 429 { throw Failure(response: response) }
                return response
            }
        }
        let time = ManualTimeSource()
        let agent = NetworkAgent(wire("5", 429), [.hostLimit(HostLimits()), Refusing()], time)
        await #expect(throws: Refusing.Failure.self) { try await agent.send(Get()) }
        let next = agent.sending()
        try await eventually { time.sleeperCount == 1 }
        #expect(time.nextWake == time.now.advanced(by: .seconds(5)))
        time.advance(by: .seconds(5))
        #expect(await outcome(next) == "ok")
    }

    @Test(
        "all three date formats are accepted, with the agent's clock",
        arguments: ["Sun, 09 Sep 2001 01:46:45 GMT", "Sunday, 09-Sep-01 01:46:45 GMT", "Sun Sep  9 01:46:45 2001"])
    func dates(value: String) async throws {
        let time = ManualTimeSource()
        let wire = wire(value, 429)
        let task = NetworkAgent(wire, [.retry(policy())], time).sending()
        try await eventually { time.sleeperCount == 1 }
        #expect(time.nextWake == time.now.advanced(by: .seconds(5)))
        time.advance(by: .seconds(5))
        #expect(await outcome(task) == "ok")
    }

    @Test(
        "a hostile or invalid value waits no longer than the limit, or as if it were missing",
        arguments: [
            ("99999999999999999999999", 60), ("4294967296", 60), ("3600", 60), ("61", 60), ("60", 60),
            ("Fri, 31 Dec 9999 23:59:59 GMT", 60), ("0", 1), ("-5", 1), ("1e9", 1), ("NaN", 1), ("", 1), ("2.5", 1),
            ("soon", 1), ("Mon, 01 Jan 1990 00:00:00 GMT", 1), ("+7", 1), ("7, 9", 1), ("７", 1),
            (String(repeating: "9", count: 100_000), 60),
        ] as [(String, Int)])
    func hostile(value: String, seconds: Int) async throws {
        let time = ManualTimeSource()
        let wire = wire(value)
        let task = NetworkAgent(wire, [.retry(policy())], time).sending()
        try await eventually { time.sleeperCount == 1 }
        #expect(time.nextWake == time.now.advanced(by: .seconds(seconds)))
        time.advance(by: .seconds(seconds))
        #expect(await outcome(task) == "ok")
    }

    @Test("in the standard order, the retry's shorter `maximumRetryAfter` also limits the pauses of hosts")
    func cap() async throws {
        let time = ManualTimeSource()
        let wire = wire("3600")
        let agent = NetworkAgent(wire, [.standardResilience { $0.retry.maximumRetryAfter = .seconds(5) }], time)
        let task = agent.sending()
        // Only the pause is left, not the timer of the attempt.
        try await eventually { time.sleeperCount == 1 && time.nextWake == time.now.advanced(by: .seconds(5)) }
        #expect(wire.sent == 1)
        time.advance(by: .seconds(5))
        #expect(await outcome(task) == "ok")
    }

    @Test("of two fields the longer wait counts, and a clock that jumps doesn't affect waits")
    func fields() async throws {
        let time = ManualTimeSource()
        let wire = Wire { number, request, _ in
            var headers: HTTPHeaders = ["Retry-After": "3"]
            headers.add("Retry-After", "Sun, 09 Sep 2001 01:46:47 GMT")
            return number == 1 ? response(request, 503, headers) : response(request)
        }
        let task = NetworkAgent(wire, [.retry(policy())], time).sending()
        try await eventually { time.sleeperCount == 1 }
        #expect(time.nextWake == time.now.advanced(by: .seconds(7)))
        time.date = Date(timeIntervalSince1970: 0)
        time.advance(by: .seconds(7))
        #expect(await outcome(task) == "ok")
    }

    @Test("a call whose deadline ends before the pause fails at once with a typed error, and isn't sent")
    func deadline() async throws {
        let time = ManualTimeSource()
        let wire = wire("30")
        let agent = NetworkAgent(wire, [.retry(policy(1) { _ in }), .hostLimit(HostLimits())], time)
        _ = try? await agent.send(Get())
        let error = await #expect(throws: ResilienceError.self) {
            try await agent.send(Get { $0.deadline = .seconds(10) })
        }
        #expect(error?.code == .waitTooLong && error?.remaining == .seconds(30))
        #expect(error?.host == "api.example.com:443" && error?.description.contains("deadline") == true)
        #expect(wire.sent == 1)
        // With a longer deadline, the request waits.
        let late = agent.sending(Get { $0.deadline = .seconds(31) })
        try await eventually { time.sleeperCount >= 1 && wire.sent == 1 }
        time.advance(by: .seconds(30))
        #expect(await outcome(late) == "ok")
    }

    @Test("requests that wait for a host end immediately when cancelled, and the others continue")
    func cancelled() async throws {
        let time = ManualTimeSource()
        let wire = wire("5")
        let agent = NetworkAgent(wire, [.retry(policy())], time)
        let first = agent.sending()
        try await eventually { time.sleeperCount == 1 }
        let waiting = (0..<10).map { _ in agent.sending() }
        try await eventually { time.sleeperCount == 11 }
        for index in [0, 4, 9] {
            waiting[index].cancel()
            #expect(await outcome(waiting[index]) == "cancelled")
        }
        #expect(wire.sent == 1)
        time.advance(by: .seconds(5))
        for index in [1, 2, 3, 5, 6, 7, 8] { #expect(await outcome(waiting[index]) == "ok") }
        #expect(await outcome(first) == "ok")
        #expect(wire.sent == 9 && time.sleeperCount == 0)
    }

    @Test("a Retry-After with a broken body counts too, but not on a 404")
    func otherPlaces() async throws {
        let time = ManualTimeSource()
        let wire = Wire { number, request, _ in
            if number == 1 { return response(request, 404, ["Retry-After": "5"]) }
            if number > 2 { return response(request) }
            throw ErrandError(
                .truncated, "", response: HTTPResponse(to: request, status: 503, headers: ["Retry-After": "5"]))
        }
        let agent = NetworkAgent(wire, [.hostLimit(HostLimits())], time)
        _ = try? await agent.send(Get())
        _ = try? await agent.send(Get())
        #expect(wire.sent == 2)
        let task = agent.sending()
        try await eventually { time.sleeperCount == 1 }
        #expect(wire.sent == 2 && time.nextWake == time.now.advanced(by: .seconds(5)))
        time.advance(by: .seconds(5))
        #expect(await outcome(task) == "ok")
    }

    @Test("a redirect to a paused host waits as well")
    func redirects() async throws {
        let time = ManualTimeSource()
        let wire = Wire { number, request, _ in
            if number == 1 { return response(request, 503, ["Retry-After": "5"]) }
            if request.url.path() == "/to" { return response(request, 302, ["Location": "https://api.example.com/x"]) }
            return response(request)
        }
        let agent = NetworkAgent(wire, [.hostLimit(HostLimits())], time)
        _ = try? await agent.send(Get())
        let task = agent.sending(Get("https://www.example.com/to"))
        try await eventually { wire.sent == 2 && time.sleeperCount == 1 }
        time.advance(by: .seconds(5))
        #expect(await outcome(task) == "ok")
    }

    @Test(
        "a host whose RateLimit fields leave no quota gets no request until it is renewed, in every draft's form",
        arguments: [
            ["RateLimit": "\"default\";r=0;t=4"], ["RateLimit": "\"day\";r=500;t=9000, \"burst\";r=0;t=4"],
            ["RateLimit": "limit=10, remaining=0, reset=4"],
            ["RateLimit-Limit": "10", "RateLimit-Remaining": "0", "RateLimit-Reset": "4"],
        ] as [HTTPHeaders])
    func rateLimit(headers: HTTPHeaders) async throws {
        let time = ManualTimeSource()
        let wire = Wire { number, request, _ in response(request, 200, number == 1 ? headers : [:]) }
        let agent = NetworkAgent(wire, [.hostLimit(HostLimits())], time)
        _ = try await agent.send(Get())
        let next = agent.sending()
        try await eventually { time.sleeperCount == 1 }
        #expect(wire.sent == 1 && time.nextWake == time.now.advanced(by: .seconds(4)))
        time.advance(by: .seconds(4))
        #expect(await outcome(next) == "ok")
    }

    @Test(
        "a RateLimit-Reset with the seconds since 1970 is a date, by the server's clock",
        arguments: [(0, 4), (86_400, 4), (-86_400, 4), (0, -4), (0, 10_000)])
    func resetDate(difference: Int, seconds: Int) async throws {
        let server = 1_784_111_777
        let time = ManualTimeSource(date: Date(timeIntervalSince1970: Double(server + difference)))
        let wire = Wire { number, request, _ in
            var headers: HTTPHeaders = ["RateLimit-Remaining": "0", "RateLimit-Reset": "\(server + seconds)"]
            headers[.date] = "Wed, 15 Jul 2026 10:36:17 GMT"
            return response(request, 200, number == 1 ? headers : [:])
        }
        let agent = NetworkAgent(wire, [.hostLimit(HostLimits())], time)
        _ = try await agent.send(Get())
        let next = agent.sending()
        if seconds > 0 {
            let wait = Duration.seconds(min(seconds, 60))
            try await eventually { time.sleeperCount == 1 }
            #expect(wire.sent == 1 && time.nextWake == time.now.advanced(by: wait))
            time.advance(by: wait)
        }
        #expect(await outcome(next) == "ok")
    }

    @Test("the remaining requests of a limit are sent, and no more")
    func remaining() async throws {
        let time = ManualTimeSource()
        let wire = Wire { number, request, _ in
            response(request, 200, number == 1 ? ["RateLimit": "\"a\";r=3;t=10"] : [:])
        }
        let agent = NetworkAgent(wire, [.hostLimit(HostLimits())], time)
        _ = try await agent.send(Get())
        let tasks = (0..<8).map { _ in agent.sending() }
        // An admitted request reaches the wire shortly after the others begin to wait.
        try await eventually { time.sleeperCount == 5 && wire.sent >= 4 }
        #expect(wire.sent == 4)
        time.advance(by: .seconds(10))
        for task in tasks { #expect(await outcome(task) == "ok") }
    }

    @Test("a RateLimit field of 100 KB is ignored")
    func longLimit() async throws {
        let value = "\"a\";r=0;t=30;x=\"" + String(repeating: "x", count: 100_000) + "\""
        for name in ["RateLimit", "RateLimit-Remaining"] as [HTTPHeaderName] {
            let wire = Wire { _, request, _ in
                var headers: HTTPHeaders = ["RateLimit-Reset": "30"]
                headers.add(name, name == "RateLimit" ? value : "0;x=" + value.dropFirst(15))
                return response(request, 200, headers)
            }
            let agent = NetworkAgent(wire, [.hostLimit(HostLimits())])
            for _ in 0..<2 { #expect(try await agent.send(Get { $0.deadline = .seconds(10) }).value == "ok") }
        }
    }

    @Test(
        "invalid or hostile RateLimit fields are ignored or limited",
        arguments: [
            ("\"a\";r=0;t=999999999999999", 60), ("\"a\";r=0", 0), ("\"a\";r=-1;t=5", 0), ("\"a\";r=0;t=-5", 0),
            ("\"a\";r=0;t=0", 0), ("r=0;t=5;;", 0), ("", 0), ("remaining=0", 0), ("\"a\";r=\"0\";t=\"5\"", 0),
            (String(repeating: "\"a\";r=9;t=9, ", count: 500) + "\"b\";r=9;t=9", 0),
        ] as [(String, Int)])
    func hostileLimits(value: String, seconds: Int) async throws {
        let time = ManualTimeSource()
        let wire = Wire { number, request, _ in response(request, 200, number == 1 ? ["RateLimit": value] : [:]) }
        let agent = NetworkAgent(wire, [.hostLimit(HostLimits())], time)
        _ = try await agent.send(Get())
        let next = agent.sending()
        if seconds > 0 {
            try await eventually { time.sleeperCount == 1 }
            #expect(time.nextWake == time.now.advanced(by: .seconds(seconds)))
            time.advance(by: .seconds(seconds))
        }
        #expect(await outcome(next) == "ok")
    }
}
