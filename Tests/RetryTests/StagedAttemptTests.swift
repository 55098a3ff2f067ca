import Errand
import ErrandCache
import ErrandEssentials
import ErrandTesting
import Testing

@testable import ErrandRetry

@Suite("Staged work of repeated attempts", .endsInTime, .leakChecked)
struct StagedAttemptTests {
    private static let quick = RetryPolicy(backoff: Backoff(base: .milliseconds(1), maximumDelay: .milliseconds(2)))

    @Test("a discarded attempt's work is discarded before the next attempt, and the last attempt's work is committed")
    func discarded() async throws {
        let (log, stub) = (Log<String>(), StubTransport())
        stub.on("*", response: .text("down", status: 503), .text("down", status: 503), .text("up"))
        let before = ClosureFilter { exchange, next in
            exchange.whenAccepted { log.add("commit of one further out") }
            return try await next(exchange)
        }
        let agent = NetworkAgent(
            baseURL: "https://api.test", transport: stub, filters: [before, .retry(Self.quick), StagingFilter(log)])
        #expect(try await agent.send(Call<String>(.get, "x")).value == "up")
        #expect(log.all == ["discard 503", "discard 503", "commit of one further out", "commit 200"])
    }

    @Test("a rejected status of the first attempt doesn't replace the stale entry that is served in the end")
    func stale() async throws {
        let (time, stub) = (ManualTimeSource(), StubTransport())
        stub.on(
            "*", response: .text("good"), .text("slow down", status: 429), .failure(ErrandError(.cannotConnect, "x")),
            .failure(ErrandError(.cannotConnect, "x")), .text("new"))
        let agent = NetworkAgent(
            baseURL: "https://api.test", transport: stub,
            filters: [
                .retry(RetryPolicy(maximumAttempts: 2, backoff: .none)),
                .cache(.memory(), policy: .timed(.seconds(5))),
            ], time: time)
        #expect(try await agent.send(Call<String>(.get, "x")).value == "good")
        time.advance(by: .seconds(100))
        #expect(try await agent.send(Call<String>(.get, "x"), options: .cache(.staleIfError)).value == "good")
        let next = try await agent.send(Call<String>(.get, "x"), options: .cache(.staleIfError))
        #expect(next.value == "good" && next.http.source.isCache)
        #expect(try await agent.send(Call<String>(.get, "x")).value == "new")
    }

    @Test("a request that wasn't sent gives back its place in the rate")
    func rate() {
        let rate = RequestRate(3, per: .seconds(60))
        var window = RateWindow()
        for second in 0..<4 { window.add(.seconds(second), rate) }
        let now = Duration.seconds(4)
        #expect(window.opening(at: now, position: 0, rate) == .seconds(61))
        window.remove(.seconds(2))
        #expect(window.opening(at: now, position: 0, rate) <= now)
        window.add(now, rate)
        #expect(window.opening(at: now, position: 0, rate) == .seconds(61))
        window.add(now, rate)
        #expect(window.opening(at: now, position: 0, rate) == .seconds(63))
        window.remove(.seconds(500))
        #expect(window.opening(at: now, position: 0, rate) == .seconds(63))
    }

    @Test("if one of two hedged requests fails, its staged work is discarded")
    func hedged() async throws {
        let (log, time, gates) = (Log<String>(), ManualTimeSource(), [Gate(), Gate()])
        let wire = Wire { number, request, _ in
            if number > 2 { try await gates[number - 3].wait() }
            return response(request, number == 3 ? 503 : 200)
        }
        let staging = ClosureFilter { exchange, next in
            let response = try await next(exchange)
            exchange.whenAccepted {
                log.add("commit \(response.status)")
            } otherwise: {
                log.add("discard \(response.status)")
            }
            log.add("staged \(response.status)")
            return response
        }
        let agent = NetworkAgent(wire, [.hedge(HedgePolicy(share: 1, minimumSamples: 2)), staging], time)
        for _ in 0..<2 { _ = try await agent.send(Get()) }
        log.removeAll()
        let task = agent.sending()
        try await eventually { time.sleeperCount == 1 }
        time.advance(by: .seconds(1))
        try await eventually { wire.sent == 4 }
        gates[0].open()
        try await eventually { log.all.contains("staged 503") }
        gates[1].open()
        #expect(try await task.value == "ok")
        #expect(log.all.contains("discard 503") && log.all.contains("commit 200") && !log.all.contains("commit 503"))
    }
}
