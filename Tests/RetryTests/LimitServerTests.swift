import Errand
import ErrandEssentials
import ErrandRetry
import ErrandTesting
import Testing

@Suite("Servers with limits of every kind", .endsInTime, .leakChecked) struct LimitServerTests {
    /// How clients that respect a limit send their requests, in seconds.
    enum Pattern: CaseIterable {
        case steady, bursts, uneven

        func times(_ count: Int, _ period: Double, until end: Double) -> [Double] {
            var times: [Double] = []
            switch self {
            case .steady: times = Array(stride(from: 0.01, to: end, by: period / Double(count) / 0.8))
            case .bursts:
                for start in stride(from: 0.01, to: end, by: period) {
                    for number in 0..<(count / 2) { times.append(start + Double(number) * 0.001) }
                }
            case .uneven:
                var dice = SeededGenerator(seed: 7)
                for start in stride(from: 0.01, to: end, by: period / Double(count) * 4) {
                    times += (0..<2).map { _ in
                        start + .random(in: 0..<(period / Double(count) * 4), using: &dice)
                    }.sorted()
                }
            }
            return times
        }
    }

    /// Sends at these times, advances the clock to each next event, and returns how long requests waited at the host
    /// limit.
    ///
    /// - Parameter latency: how long a response takes after the server has counted the request.
    private func run(
        _ server: LimitServer, _ time: ManualTimeSource, _ times: [Double], latency: Double,
        _ filters: [any Filter] = [.hostLimit(HostLimits())]
    ) async throws -> Double {
        let begin = time.now
        let wire = Wire { _, request, options in
            let response = server.respond(to: request, at: options.time.now)
            if latency > 0 {
                try await options.time.sleep(until: options.time.now.advanced(by: .seconds(latency)))
            }
            return response
        }
        let agent = NetworkAgent(wire, filters, time)
        let ended = Counter()
        var (lost, started) = (0.0, 0)
        var sends = times.map { begin.advanced(by: .seconds($0)) }[...]
        while ended.value < times.count {
            // Every started request is on the wire, waits, or has ended.
            let count = started
            try await eventually { time.sleeperCount + ended.value == count }
            let waiting = started - wire.sent
            let next = [sends.first, time.nextWake].compactMap(\.self).min()
            guard let next else { continue }
            if waiting > 0 {
                let passed = time.now.duration(to: next).components
                lost += Double(passed.seconds) + Double(passed.attoseconds) / 1e18
            }
            if sends.first == next {
                sends.removeFirst()
                started += 1
                time.advance(to: next)
                Task {
                    _ = try? await agent.send(Get())
                    ended.increment()
                }
            } else {
                time.advance(to: next)
            }
        }
        return lost
    }

    @Test(
        "a client that keeps to the limit loses at most 2 percent of its time",
        arguments: LimitServer.Kind.allCases, Pattern.allCases)
    func within(kind: LimitServer.Kind, pattern: Pattern) async throws {
        for (count, period, end) in [(20, 1.0, 10.0), (60, 60.0, 120.0)] {
            for latency in [0.0, 0.1, 0.3, 0.9, 2.0] {
                let time = ManualTimeSource()
                let server = LimitServer(kind, count, per: period, at: time.now)
                let times = pattern.times(count, period, until: end)
                let lost = try await run(server, time, times, latency: latency)
                #expect(lost <= end * 0.02, "\(count) in \(period) s, \(latency) s of latency: \(lost) of \(end) s")
                #expect(server.refused == 0)
            }
        }
    }

    @Test("five requests a second are never delayed by a window of twenty a second, for five minutes")
    func fiveOfTwenty() async throws {
        let time = ManualTimeSource()
        let server = LimitServer(.fixedWindow, 20, per: 1, at: time.now)
        let times = Array(stride(from: 0.05, to: 300, by: 0.2))
        #expect(try await run(server, time, times, latency: 0) == 0)
    }

    @Test(
        "300 requests at once are sent as the limit allows, and few are rejected",
        arguments: LimitServer.Kind.allCases)
    func beyond(kind: LimitServer.Kind) async throws {
        let time = ManualTimeSource()
        let server = LimitServer(kind, 20, per: 1, at: time.now)
        // The first response announces the limit.
        let times = [0.001] + Array(repeating: 0.1, count: 300)
        _ = try await run(server, time, times, latency: 0.01)
        #expect(server.refused <= 15)
        #expect(server.accepted.count + server.refused == 301)
        // Finishes as early as with a server that admits each second's share.
        #expect((server.accepted.last ?? 0) <= 32)
    }

    @Test("after a pause, responses to requests from before the pause don't release more requests")
    func beforeRest() async throws {
        let (time, old, new) = (ManualTimeSource(), Gate(), Gate())
        let wire = Wire { number, request, _ in
            if number == 11 { return response(request, 429, ["Retry-After": "2"]) }
            try await (number < 11 ? old : new).wait()
            return response(request)
        }
        let agent = NetworkAgent(wire, [.hostLimit(HostLimits())], time)
        let before = (0..<10).map { _ in agent.sending() }
        try await old.reached(by: 10)
        _ = try? await agent.send(Get())
        let after = (0..<100).map { _ in agent.sending() }
        try await eventually { time.sleeperCount == 100 }
        time.advance(by: .seconds(2))
        try await eventually { wire.sent == 12 && time.sleeperCount == 99 }
        old.open()
        for task in before { #expect(await outcome(task) == "ok") }
        for _ in 0..<100 { await Task.yield() }
        #expect(wire.sent == 12)
        new.open()
        for task in after { #expect(await outcome(task) == "ok") }
    }

    @Test("after a pause for a status, one request goes first, instead of all waiting requests")
    func afterRest() async throws {
        let (time, doors) = (ManualTimeSource(), Gate())
        let wire = Wire { number, request, _ in
            if number == 1 { return response(request, 429, ["Retry-After": "2"]) }
            try await doors.wait()
            return response(request)
        }
        let agent = NetworkAgent(wire, [.hostLimit(HostLimits())], time)
        _ = try? await agent.send(Get())
        let tasks = (0..<300).map { _ in agent.sending() }
        try await eventually { time.sleeperCount == 300 }
        time.advance(by: .seconds(2))
        try await doors.reached()
        try await eventually { time.sleeperCount == 299 }
        #expect(wire.sent == 2)
        // If no response arrives, the remaining requests follow after a delay.
        time.advance(by: .milliseconds(250))
        try await eventually { wire.sent == 3 && time.sleeperCount == 298 }
        time.advance(by: .seconds(4))
        try await eventually { wire.sent == 301 }
        doors.open()
        for task in tasks { #expect(await outcome(task) == "ok") }
    }
}
