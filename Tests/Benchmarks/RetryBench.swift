import Errand
import ErrandRetry
import ErrandTesting
import Foundation

/// The cost of the retry, timeout and limit filters for a stubbed request that succeeds: the filter alone, run many
/// times within one send.
enum RetryBench {
    private struct GetUsers: Request { let path = "users/7?page=2" }

    private static let headers: HTTPHeaders = [
        "Date": "Sun, 09 Sep 2001 01:46:40 GMT", "Content-Type": "application/json", "Server": "stub",
        "Cache-Control": "no-store", "ETag": "\"1\"", "Vary": "Accept-Encoding",
    ]

    private static let cases: [(name: String, stage: FilterStages, filters: [any Filter])] = [
        ("retry", .call, [RetryFilter()]),
        ("hedge", .call, [.hedge(HedgePolicy(minimumSamples: .max))]),
        ("hedge that knows what is slow", .call, [.hedge]),
        ("host limit", .wire, [.hostLimit(HostLimits(maximumConcurrent: 64, rate: RequestRate(90_000, per: .zero)))]),
        ("breaker", .wire, [.breaker]),
        ("attempt timeout", .wire, [.attemptTimeout(.seconds(30))]),
        ("fault injection", .wire, [FaultInjectionFilter(seed: 7)]),
    ]

    static func run() async throws {
        let turns = 20_000
        var rounds = Rounds()
        for _ in 0..<15 {
            for stage in [FilterStages.call, .wire] {
                let bare = agent(stage, turns, [])
                try await rounds.take(stage == .call ? "call" : "wire") { try await cost(of: bare, turns) }
            }
            for (name, stage, filters) in cases {
                let agent = agent(stage, turns, filters)
                try await rounds.take(name) { try await cost(of: agent, turns) }
            }
            for (name, filters) in [("a send", []), ("a send, standard", [.standardResilience])]
                as [(String, [any Filter])]
            {
                let agent = NetworkAgent.benched(filters)
                try await rounds.take(name) {
                    try await cpuMicroseconds(2_000) { for _ in 0..<2_000 { _ = try await agent.send(GetUsers()) } }
                }
            }
        }
        for (name, stage, _) in cases {
            let cost = rounds.median(name) - rounds.median(stage == .call ? "call" : "wire")
            print("\(Rounds.pad(name, 44)) \(Rounds.number(cost)) µs a request")
        }
        let standard = rounds.median("a send, standard") - rounds.median("a send")
        print("\(Rounds.pad("standard resilience, in a whole send", 44)) \(Rounds.number(standard)) µs a request")
    }

    private static func agent(_ stage: FilterStages, _ turns: Int, _ filters: [any Filter]) -> NetworkAgent {
        NetworkAgent.benched(
            [Again(count: turns, stages: stage)] + filters + [Respond(stages: stage, headers: headers)])
    }

    private static func cost(of agent: NetworkAgent, _ turns: Int) async throws -> Double {
        try await cpuMicroseconds(turns) { _ = try await agent.send(GetUsers()) }
    }
}
