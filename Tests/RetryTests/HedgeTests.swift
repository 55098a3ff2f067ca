import Errand
import ErrandEssentials
import ErrandResumableDownload
import ErrandTesting
import Synchronization
import Testing

@testable import ErrandRetry

@Suite("Hedging", .endsInTime, .leakChecked) struct HedgeTests {
    /// Sends one call after the other, and advances the clock to each next event.
    private final class Lane: Sendable {
        let time = ManualTimeSource()
        let notes = Notes()
        let wire: Wire
        let agent: NetworkAgent
        private let delay: @Sendable (_ request: Int) -> Duration

        /// Delays are even numbers of microseconds, so a response never coincides with a second request.
        init(_ delay: @escaping @Sendable (_ request: Int) -> Duration) {
            self.delay = delay
            wire = Wire { number, request, options in
                try await options.time.sleep(until: options.time.now.advanced(by: delay(number)))
                return response(request)
            }
            agent = NetworkAgent(wire, [.hedge], time, notes)
        }

        func call(isArmed: Bool) async throws -> Duration {
            let (start, sent) = (time.now, wire.sent)
            let task = agent.sending()
            try await eventually { self.wire.sent == sent + 1 && self.time.sleeperCount == (isArmed ? 2 : 1) }
            var ends = [start.advanced(by: delay(sent + 1))]
            while let wake = time.nextWake, !ends.contains(wake) {
                // The timer sends the second request, unless the budget is used up.
                let noted = notes.count("hedge")
                time.advance(to: wake)
                try await eventually { self.notes.count("hedge") == noted + 1 }
                if notes.all.last(where: { $0.name == "hedge" })?.message.hasPrefix("a second") == true {
                    try await eventually { self.wire.sent == sent + 2 }
                    ends.append(wake.advanced(by: delay(sent + 2)))
                }
                try await eventually { self.time.sleeperCount == 2 }
            }
            time.advance(to: try #require(time.nextWake))
            _ = try await task.value
            let duration = start.duration(to: time.now)
            try await eventually { self.time.sleeperCount == 0 }
            return duration
        }
    }

    @Test("with 1 % of responses stalled, p99 is at most twice the median for at most 5 % more requests")
    func tail() async throws {
        let lane = Lane { number in
            var dice = SeededGenerator(seed: UInt64(number))
            return number % 100 == 0 ? .seconds(30) : .microseconds(2 * Int.random(in: 5_000...7_000, using: &dice))
        }
        var durations: [Duration] = []
        for call in 0..<1_000 { durations.append(try await lane.call(isArmed: call >= 20)) }
        durations.sort()
        let (median, p99) = (durations[499], durations[989])
        #expect(p99 <= median * 2, "p99 \(p99), median \(median)")
        #expect(lane.wire.sent <= 1_050 && lane.wire.sent > 1_000)
    }

    @Test("no request is hedged without enough measurements, and never more than the share")
    func budget() async throws {
        // The whole host becomes slow at the 101st request: later calls are slower than those before.
        let lane = Lane { number in number <= 100 ? .milliseconds(10) : .milliseconds(20) }
        for call in 0..<100 { _ = try await lane.call(isArmed: call >= 20) }
        #expect(lane.wire.sent == 100)
        for _ in 0..<200 { _ = try await lane.call(isArmed: true) }
        #expect(lane.wire.sent > 300 && lane.wire.sent <= 315)
    }

    /// Returns an agent with a history of 10 ms responses, before `next` takes over.
    private func warm(
        _ time: ManualTimeSource,
        _ next:
            @escaping @Sendable (Int, HTTPRequest, TransportOptions) async throws
            -> HTTPResponse
    ) async throws -> (NetworkAgent, Wire, Notes) {
        let notes = Notes()
        let wire = Wire { number, request, options in
            if number > 40 { return try await next(number - 40, request, options) }
            try await options.time.sleep(until: options.time.now.advanced(by: .milliseconds(10)))
            return response(request)
        }
        let agent = NetworkAgent(wire, [.hedge(HedgePolicy(share: 1))], time, notes)
        for sent in 0..<40 {
            let task = agent.sending()
            // From the 21st call on, there's also the timer of the second request.
            try await eventually { wire.sent == sent + 1 && time.sleeperCount == (sent < 20 ? 1 : 2) }
            time.advance(by: .milliseconds(10))
            _ = try await task.value
            try await eventually { time.sleeperCount == 0 }
        }
        #expect(wire.sent == 40)
        return (agent, wire, notes)
    }

    @Test("the losing request is cancelled, without waiting for its end")
    func loser() async throws {
        let (time, cancelled) = (ManualTimeSource(), Log<Int>())
        let (agent, wire, notes) = try await warm(time) { number, request, options in
            if number == 2 { return response(request, 200, ["X-Number": "2"]) }
            do { try await options.time.sleep(until: options.time.now.advanced(by: .seconds(60))) } catch {
                cancelled.add(number)
                throw error
            }
            return response(request)
        }
        let task = Task { try await agent.send(Get()) }
        try await eventually { time.sleeperCount == 2 }
        time.advance(by: .milliseconds(11))
        #expect(try await task.value.http.headers["X-Number"] == "2")
        try await eventually { cancelled.all == [1] && time.sleeperCount == 0 }
        #expect(wire.sent == 42 && notes.count("hedge") == 1)
    }

    @Test("if one request fails, the other is awaited")
    func failures() async throws {
        for secondFails in [false, true] {
            let (time, door) = (ManualTimeSource(), Gate())
            let (agent, wire, _) = try await warm(time) { number, request, _ in
                if number == 1 {
                    try await door.wait()
                    if secondFails { return response(request) }
                    throw ErrandError(.connectionLost, "")
                }
                return response(request, secondFails ? 500 : 200)
            }
            let task = agent.sending()
            try await door.reached()
            try await eventually { time.sleeperCount == 1 }
            time.advance(by: .milliseconds(11))
            try await eventually { wire.sent == 42 }
            if secondFails { door.open() }
            #expect(await outcome(task) == "ok")
            door.open()
        }
    }

    /// Tests only the race: if two responses arrive together, nobody outside can see which one it receives first.
    @Test("if both requests fail, the first failure is thrown", arguments: [false, true])
    func twoFailures(isReversed: Bool) async {
        let racing = ClosureFilter { exchange, next in
            let race = HedgeRace(HedgedRequest(exchange, next))
            _ = race.start { HedgedRequest(exchange, next) }
            let ends: [HedgeRace.Outcome] = [
                .success(response(exchange.http, 500)), .failure(ErrandError(.connectionLost, "")),
            ]
            let decides = (isReversed ? ends.reversed() : ends).enumerated().map {
                race.finish($1, of: $0, isGood: false)
            }
            #expect(decides == [false, true])
            return try await race.value()
        }
        let wire = Wire { _, request, _ in response(request) }
        let agent = NetworkAgent(wire, [racing])
        #expect(await failure { try await agent.send(Get()) } == (isReversed ? "connectionLost" : "500"))
    }

    @Test("a cancellation ends both requests at once")
    func cancellation() async throws {
        let (time, cancelled) = (ManualTimeSource(), Log<Int>())
        let (agent, wire, _) = try await warm(time) { number, request, options in
            do { try await options.time.sleep(until: options.time.now.advanced(by: .seconds(60))) } catch {
                cancelled.add(number)
                throw error
            }
            return response(request)
        }
        let task = agent.sending()
        try await eventually { time.sleeperCount == 2 }
        time.advance(by: .milliseconds(11))
        try await eventually { wire.sent == 42 && time.sleeperCount == 2 }
        task.cancel()
        #expect(await outcome(task) == "cancelled")
        try await eventually { cancelled.all.sorted() == [1, 2] && time.sleeperCount == 0 }
    }

    @Test("requests that can't be sent twice aren't hedged: a POST, a body that can be read once, a stream, a file")
    func eligibility() async throws {
        struct File: DownloadRequest {
            let destination: URL
            let path = "file"
        }
        let time = ManualTimeSource()
        let (agent, wire, _) = try await warm(time) { _, request, options in
            try await options.time.sleep(until: options.time.now.advanced(by: .seconds(1)))
            return response(request)
        }
        let requests = [
            Get { $0.method = .post }, Get { $0.delivery = .stream },
            Get { ($0.method, $0.body) = (.put, .stream(HTTPBody(Data("a".utf8)))) },
        ]
        for (index, request) in requests.enumerated() {
            let task = agent.sending(request)
            try await eventually { time.sleeperCount == 1 && wire.sent == 41 + index }
            time.advance(by: .seconds(1))
            _ = await task.result
        }
        let place = URL(filePath: "/tmp/errand-hedge-\(UInt64.random(in: 0 ... .max))")
        defer { try? FileManager.default.removeItem(at: place) }
        let download = Task { try await agent.send(File(destination: place)) }
        try await eventually { time.sleeperCount == 1 && wire.sent == 44 }
        time.advance(by: .seconds(1))
        _ = await download.result
        #expect(wire.sent == 44)
    }

    @Test("a request that fails before a second one is due ends at once, with or without a budget", arguments: [0, 1])
    func earlyFailure(share: Int) async throws {
        let (time, notes) = (ManualTimeSource(), Notes())
        let wire = Wire { number, request, options in
            if number > 40 { return response(request, 503) }
            try await options.time.sleep(until: options.time.now.advanced(by: .milliseconds(10)))
            return response(request)
        }
        let hedge = HedgeFilter(HedgePolicy(share: Double(share)))
        let agent = NetworkAgent(wire, [hedge], time, notes)
        for _ in 0..<40 {
            let task = agent.sending()
            try await eventually { time.sleeperCount > 0 }
            time.advance(by: .milliseconds(10))
            _ = try await task.value
            try await eventually { time.sleeperCount == 0 }
        }
        let sent = wire.sent
        let date = time.now
        #expect(await outcome(agent.sending()) == "503")
        #expect(time.now == date && wire.sent == sent + 1 && notes.count("hedge") == 0)
        // A retry around it decides when to send again.
        let patient = NetworkAgent(wire, [.retry(policy { $0.backoff = .none }), hedge], time)
        #expect(await outcome(patient.sending()) == "503")
        #expect(time.now == date && wire.sent == sent + 4)
    }
}
