import Errand
import ErrandEssentials
import ErrandRetry
import ErrandTesting
import Testing

@testable import ErrandRetry

/// More hosts than a table holds at first. The table keeps each host's state as long as it matters.
@Suite("Thousands of hosts", .endsInTime, .leakChecked) struct HostCountTests {
    private static let hosts = 1_200
    private static func url(_ host: Int) -> String { "https://h\(host).example/" }

    @Test("the retry budget applies to each host")
    func budget() async {
        let wire = Wire { _, request, _ in response(request, 503) }
        var policy = RetryPolicy(backoff: .none)
        policy.budget = RetryBudget(reserve: 0)
        let agent = NetworkAgent(wire, [.retry(policy)])
        for _ in 0..<20 {
            for host in 0..<Self.hosts { _ = try? await agent.send(Get(Self.url(host))) }
        }
        // The budget allows two retries for twenty calls, and a single call may use both immediately.
        #expect(wire.sent <= Self.hosts * 22)
    }

    @Test("each host has its own breaker")
    func breakers() async {
        let wire = Wire { _, request, _ in response(request, 503) }
        let agent = NetworkAgent(wire, [.breaker])
        for _ in 0..<12 {
            for host in 0..<Self.hosts { _ = try? await agent.send(Get(Self.url(host))) }
        }
        #expect(wire.sent == Self.hosts * 10)
    }

    @Test("used-up quotas and pauses are kept separately for each host", arguments: [true, false])
    func rests(isQuota: Bool) async throws {
        let wire = Wire { _, request, _ in
            isQuota
                ? response(request, 200, ["RateLimit": "\"a\";r=0;t=30"])
                : response(request, 503, ["Retry-After": "30"])
        }
        let agent = NetworkAgent(wire, [.hostLimit(HostLimits())])
        for _ in 0..<2 {
            for host in 0..<Self.hosts {
                _ = try? await agent.send(Get(Self.url(host)) { $0.deadline = .seconds(10) })
            }
        }
        #expect(wire.sent == Self.hosts)
    }

    @Test("each host has its own rate")
    func rates() async throws {
        let wire = Wire { _, request, _ in response(request) }
        let agent = NetworkAgent(wire, [.hostLimit(HostLimits(rate: RequestRate(1, per: .seconds(30))))])
        for _ in 0..<2 {
            for host in 0..<Self.hosts {
                _ = try? await agent.send(Get(Self.url(host)) { $0.deadline = .seconds(10) })
            }
        }
        #expect(wire.sent == Self.hosts)
    }

    @Test("the maximum number of concurrent requests applies to each host")
    func concurrency() async throws {
        let (time, door) = (ManualTimeSource(), Gate())
        let wire = Wire { _, request, _ in
            try await door.wait()
            return response(request)
        }
        let agent = NetworkAgent(wire, [.hostLimit(HostLimits(maximumConcurrent: 1))], time)
        var tasks: [Task<String, any Error>] = []
        for round in 0..<2 {
            for host in 0..<Self.hosts { tasks.append(agent.sending(Get(Self.url(host)))) }
            try await eventually {
                wire.sent + time.sleeperCount == (round + 1) * Self.hosts && wire.sent >= Self.hosts
            }
        }
        #expect(wire.sent == Self.hosts)
        door.open()
        for task in tasks { #expect(await outcome(task) == "ok") }
    }

    private final class Record: HostRecord {
        let host: String
        let isBusy: Bool
        let isKnown: Bool
        init(_ host: String, isBusy: Bool = false, isKnown: Bool = true) {
            (self.host, self.isBusy, self.isKnown) = (host, isBusy, isKnown)
        }
        func retire(at now: ContinuousClock.Instant, isForced: Bool) -> Bool { !isBusy && (isForced || !isKnown) }
    }

    private func ask(_ table: HostTable<Record>, _ host: Int) throws -> Record {
        table.record(for: HTTPRequest(.get, try #require(URL(string: Self.url(host)))), at: .now)
    }

    @Test("idle hosts are forgotten, and beyond the limit the least recently used")
    func bounds() throws {
        let table = HostTable<Record>(capacity: 100, maximum: 1_000) { host, _ in
            let number = Int(host.dropFirst().prefix { $0.isNumber }) ?? 0
            return Record(host, isBusy: number < 10, isKnown: number % 2 == 0)
        }
        let first = try (0..<20).map { try ask(table, $0) }
        for host in 0..<100_000 {
            _ = try ask(table, host)
            // This host is always in use.
            #expect(try ask(table, 18) === first[18])
        }
        #expect(table.count <= 1_300)
        for host in 0..<10 { #expect(try ask(table, host) === first[host]) }
        #expect(try ask(table, 12) !== first[12] && ask(table, 11) !== first[11])
    }
}
