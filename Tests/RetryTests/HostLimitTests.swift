import Errand
import ErrandEssentials
import ErrandRetry
import ErrandTesting
import Foundation
import Synchronization
import Testing

@Suite("The limits of a host", .endsInTime, .leakChecked) struct HostLimitTests {
    @Test("at most the allowed number of requests is in flight, in order of arrival")
    func concurrency() async throws {
        let running = Atomic(0)
        let most = Atomic(0)
        let order = Log<String>()
        let doors = (0..<20).map { _ in Gate() }
        let wire = Wire { number, request, _ in
            order.add(request.url.path())
            most.max(running.add(1, ordering: .sequentiallyConsistent).newValue, ordering: .sequentiallyConsistent)
            defer { running.subtract(1, ordering: .sequentiallyConsistent) }
            try await doors[number - 1].wait()
            return response(request)
        }
        let time = ManualTimeSource()
        let agent = NetworkAgent(wire, [.hostLimit(HostLimits(maximumConcurrent: 3))], time)
        var tasks: [Task<String, any Error>] = []
        for number in 0..<20 {
            tasks.append(agent.sending(Get("\(number)")))
            try await eventually { order.all.count + time.sleeperCount == number + 1 }
        }
        // One at a time: two requests admitted together may reach the wire in any order.
        for (number, door) in doors.enumerated() {
            door.open()
            try await eventually { order.all.count == min(number + 4, 20) }
        }
        for task in tasks { #expect(await outcome(task) == "ok") }
        #expect(most.load(ordering: .sequentiallyConsistent) == 3)
        #expect(order.all == (0..<20).map { "/\($0)" })
    }

    @Test("at most the allowed number of requests is sent in any period")
    func rate() async throws {
        let (time, sent) = (ManualTimeSource(), Log<ContinuousClock.Instant>())
        let wire = Wire { _, request, options in
            sent.add(options.time.now)
            return response(request)
        }
        let limits = HostLimits(rate: RequestRate(5, per: .seconds(10)))
        let agent = NetworkAgent(wire, [.hostLimit(limits)], time)
        let tasks = (0..<23).map { _ in agent.sending() }
        for count in [5, 10, 15, 20] {
            try await eventually { sent.count == count && time.sleeperCount == 23 - count }
            time.advance(by: .seconds(10))
        }
        for task in tasks { #expect(await outcome(task) == "ok") }
        let times = sent.all
        for index in 5..<23 { #expect(times[index - 5].duration(to: times[index]) >= .seconds(10)) }
    }

    @Test("retries count against the rate of their host")
    func rateOfRetries() async throws {
        let (time, sent) = (ManualTimeSource(), Log<ContinuousClock.Instant>())
        let wire = Wire { number, request, options in
            sent.add(options.time.now)
            return response(request, number % 2 == 1 ? 503 : 200)
        }
        let limits = HostLimits(rate: RequestRate(1, per: .seconds(10)))
        let retry = policy { $0.backoff = .none }
        let agent = NetworkAgent(wire, [.retry(retry), .hostLimit(limits)], time)
        let tasks = (0..<3).map { _ in agent.sending() }
        for count in 1...6 {
            try await eventually { sent.count == count && (count == 6 || time.sleeperCount > 0) }
            time.advance(by: .seconds(10))
        }
        for task in tasks { #expect(await outcome(task) == "ok") }
        let times = sent.all
        for index in 1..<6 { #expect(times[index - 1].duration(to: times[index]) >= .seconds(10)) }
    }

    @Test("accessories learn how long a request waited, and get no event if it didn't wait")
    func notes() async throws {
        let (time, notes) = (ManualTimeSource(), Notes())
        let wire = Wire { _, request, _ in response(request) }
        let limits = HostLimits(rate: RequestRate(1, per: .seconds(10)))
        let agent = NetworkAgent(wire, [.hostLimit(limits)], time, notes)
        _ = try await agent.send(Get())
        #expect(notes.count("host limit") == 0)
        time.advance(by: .seconds(4))
        let waiting = agent.sending()
        try await eventually { time.sleeperCount == 1 }
        time.advance(by: .seconds(6))
        #expect(await outcome(waiting) == "ok")
        #expect(notes.count("host limit") == 2)
        let note = try #require(notes.all.last?.details as? HostLimitNote)
        #expect(note.host == "api.example.com:443" && note.wait == .seconds(6))
    }

    @Test("a request that would reach its deadline before its turn is refused immediately")
    func rateDeadline() async throws {
        let time = ManualTimeSource()
        let wire = Wire { _, request, _ in response(request) }
        let agent = NetworkAgent(wire, [.hostLimit(HostLimits(rate: RequestRate(1, per: .seconds(10))))], time)
        _ = try await agent.send(Get())
        let waiting = agent.sending()
        try await eventually { time.sleeperCount == 1 }
        // The request would have to wait 20 seconds.
        #expect(await failure { try await agent.send(Get { $0.deadline = .seconds(15) }) } == "waitTooLong")
        let later = agent.sending(Get { $0.deadline = .seconds(21) })
        try await eventually { time.sleeperCount >= 2 }
        for _ in 0..<2 {
            time.advance(by: .seconds(10))
            try await eventually { wire.sent >= 2 }
        }
        #expect(await outcome(waiting) == "ok")
        #expect(await outcome(later) == "ok")
    }

    @Test("requests that are cancelled while waiting leave no gap in the rate")
    func cancelledRate() async throws {
        let time = ManualTimeSource()
        let wire = Wire { _, request, _ in response(request) }
        let agent = NetworkAgent(wire, [.hostLimit(HostLimits(rate: RequestRate(1, per: .seconds(1))))], time)
        _ = try await agent.send(Get())
        let gone = (0..<100).map { _ in agent.sending() }
        try await eventually { time.sleeperCount == 100 }
        for task in gone { task.cancel() }
        for task in gone { #expect(await outcome(task) == "cancelled") }
        let next = agent.sending()
        try await eventually { time.sleeperCount == 1 }
        #expect(time.nextWake == time.now.advanced(by: .seconds(1)))
        time.advance(by: .seconds(1))
        #expect(await outcome(next) == "ok")
    }

    @Test("a streamed response counts until its body has ended, or was cancelled or released", arguments: 0..<3)
    func streams(end: Int) async throws {
        struct Stream: Request {
            typealias Output = HTTPBody
            let path = "s"
        }
        let time = ManualTimeSource()
        let wire = Wire { _, request, _ in
            let left = Mutex(2)
            let body = HTTPBody {
                left.withLock { left in
                    left -= 1
                    return left >= 0 ? Data("ab".utf8) : nil
                }
            }
            return HTTPResponse(to: request, status: 200, body: body)
        }
        let agent = NetworkAgent(wire, [.hostLimit(HostLimits(maximumConcurrent: 1))], time)
        var body: HTTPBody? = try await agent.send(Stream()).value
        let next = Task { try await agent.send(Stream()).value }
        try await eventually { time.sleeperCount == 1 }
        #expect(wire.sent == 1)
        switch end {
        case 0: #expect(try await body?.collect(upTo: 100) == Data("abab".utf8))
        case 1: body?.cancel()
        default: body = nil
        }
        _ = try await next.value
        #expect(wire.sent == 2)
        withExtendedLifetime(body) {}
    }

    @Test("requests beyond the queue, and requests that wait too long, throw typed errors")
    func bounds() async throws {
        let (time, door) = (ManualTimeSource(), Gate())
        let wire = Wire { _, request, _ in
            try await door.wait()
            return response(request)
        }
        var limits = HostLimits(maximumConcurrent: 1)
        (limits.maximumQueue, limits.maximumWait) = (2, .seconds(5))
        let agent = NetworkAgent(wire, [.hostLimit(limits)], time)
        let running = agent.sending()
        try await door.reached()
        let waiting = (0..<2).map { _ in agent.sending() }
        try await eventually { time.sleeperCount == 2 }
        #expect(await failure { try await agent.send(Get()) } == "queueFull")
        time.advance(by: .seconds(5))
        for task in waiting { #expect(await outcome(task) == "waitTooLong") }
        door.open()
        #expect(await outcome(running) == "ok")
        #expect(try await agent.send(Get()).value == "ok")
    }

    @Test("an HTTP cache hit doesn't pass through a host limit, even if the limit comes before the cache in the array")
    func hits() async throws {
        let store = ClosureFilter(.hop) { exchange, _ in HTTPResponse(url: exchange.http.url, status: 200) }
        let wire = Wire { _, request, _ in response(request) }
        let agent = NetworkAgent(wire, [.standardResilience { $0.limits.maximumConcurrent = 0 }, store])
        for _ in 0..<3 { _ = try await agent.send(Get()) }
        #expect(wire.sent == 0)
    }

    /// The number of interleavings in each of ten blocks; set `ERRAND_INTERLEAVINGS` to change it. 1,000 take ten
    /// seconds of processor time.
    private static let interleavings =
        ProcessInfo.processInfo.environment["ERRAND_INTERLEAVINGS"].flatMap { UInt64($0) } ?? 200

    @Test(
        "in random orders of requests, failures, pauses and cancellations, no slot or request is lost",
        arguments: UInt64(0)..<10)
    func interleavings(block: UInt64) async throws {
        for seed in block * 1_000..<block * 1_000 + Self.interleavings {
            var dice = SeededGenerator(seed: seed)
            let time = ManualTimeSource()
            let most = Int.random(in: 1...3, using: &dice)
            let running = Atomic(0)
            let peak = Atomic(0)
            let wire = Wire { number, request, options in
                let count = running.add(1, ordering: .sequentiallyConsistent).newValue
                peak.max(count, ordering: .sequentiallyConsistent)
                defer { running.subtract(1, ordering: .sequentiallyConsistent) }
                var dice = SeededGenerator(seed: seed &* 1_000 &+ UInt64(number))
                let wait = Duration.milliseconds(Int.random(in: 0...20, using: &dice))
                try await options.time.sleep(until: options.time.now.advanced(by: wait))
                switch Int.random(in: 0..<10, using: &dice) {
                case 0: throw ErrandError(.connectionLost, "")
                case 1: return response(request, 503, ["Retry-After": "1"])
                case 2: return response(request, 200, ["RateLimit": "\"a\";r=1;t=1"])
                default: return response(request)
                }
            }
            let limits = HostLimits(maximumConcurrent: most, rate: RequestRate(5, per: .seconds(1)))
            let filter = HostLimitFilter(limits)
            let agent = NetworkAgent(wire, [filter, BreakerFilter(BreakerPolicy(minimumRequests: 1_000))], time)
            let handles = (0..<8).map { _ in agent.start(Get()) }
            let clock = Task {
                while (try? await time.waitForSleepers()) != nil {
                    if let next = time.nextWake { time.advance(to: next) }
                    await Task.yield()
                }
            }
            for _ in 0..<3 {
                handles[Int.random(in: 0..<handles.count, using: &dice)].cancel()
                await Task.yield()
            }
            for handle in handles { _ = try? await handle.value }
            #expect(peak.load(ordering: .sequentiallyConsistent) <= most, "seed \(seed)")
            // All slots are free again.
            let last = (0..<most).map { _ in agent.sending() }
            for task in last { _ = await task.result }
            clock.cancel()
            await clock.value
            #expect(time.sleeperCount == 0, "seed \(seed)")
        }
    }
}
