import Errand
import ErrandCoalescing
import ErrandTesting
import Foundation

/// The cost of coalescing a request when there's no other request to join: the filter alone, run many times within one
/// send.
enum CoalescingBench {
    private struct GetUsers: Request { let path = "users/7?page=2" }
    private struct PostUsers: Request {
        let path = "users/7?page=2"
        var method: HTTPMethod { .post }
    }

    private struct Idle: Filter {
        var stages: FilterStages { .hop }
        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
    }

    static func run() async throws {
        let turns = 20_000
        let cases: [(name: String, filters: [any Filter])] = [
            ("an idle filter", [Idle()]), ("coalescing", [.coalescing]), ("coalescing, off", [.coalescing(.off)]),
        ]
        var rounds = Rounds()
        for _ in 0..<15 {
            try await rounds.take("none") { try await cost(turns, [], GetUsers()) }
            for (name, filters) in cases { try await rounds.take(name) { try await cost(turns, filters, GetUsers()) } }
            try await rounds.take("post, none") { try await cost(turns, [], PostUsers()) }
            try await rounds.take("coalescing, a POST") { try await cost(turns, [.coalescing], PostUsers()) }
            await rounds.take("a look-up") { await lookUps(turns) }
        }
        for name in cases.map(\.name) {
            print("\(Rounds.pad("adds: " + name, 44)) \(Rounds.number(rounds.median(name) - rounds.median("none"))) µs")
        }
        let post = rounds.median("coalescing, a POST") - rounds.median("post, none")
        print("\(Rounds.pad("adds: coalescing, a POST", 44)) \(Rounds.number(post)) µs")
        print(
            "\(Rounds.pad("a URL into a dictionary, found, out", 44)) \(Rounds.number(rounds.median("a look-up"))) µs")
    }

    private static func cost(_ turns: Int, _ filters: [any Filter], _ request: some Request) async throws -> Double {
        let agent = NetworkAgent.benched([Again(count: turns, stages: .hop)] + filters + [Respond(stages: .hop)])
        return try await cpuMicroseconds(turns) { _ = try await agent.send(request) }
    }

    private static func lookUps(_ turns: Int) async -> Double {
        guard let url = URL(string: "https://api.example.com/v1/users/7?page=2") else { return 0 }
        var table: [URL: Int] = [:]
        return await cpuMicroseconds(turns) {
            for turn in 0..<turns {
                if table[url] == nil { table[url] = turn }
                table.removeValue(forKey: url)
            }
        }
    }
}
