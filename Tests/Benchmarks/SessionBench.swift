import Errand
import ErrandAuthentication
import ErrandCookies
import ErrandTesting
import Foundation

/// The cost of credentials and cookies for a stubbed request that succeeds: the filter alone, run many times within one
/// send.
enum SessionBench {
    private struct GetUsers: Request { let path = "users/7?page=2" }
    /// The request as the hop stage sees it, after the call stage has added the credential.
    private struct GetAuthorized: Request {
        let path = "users/7?page=2"
        let headers: HTTPHeaders = ["Authorization": "Bearer a-token-of-some-length"]
    }

    /// Limits a filter that uses both stages to one of them.
    private struct Only: Filter {
        let filter: any Filter
        let stages: FilterStages
        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
            try await filter.filter(exchange, next: next)
        }
    }

    static func run() async throws {
        let turns = 20_000
        let session = AuthenticationSession(BearerToken("a-token-of-some-length", expiry: .distantFuture)) { $0 }
        let (full, other) = (CookieJar(), CookieJar())
        for number in 0..<5 {
            try full.insert(Cookie("n\(number)", "value", domain: "api.example.com"))
            try other.insert(Cookie("n\(number)", "value", domain: "other.example.com"))
        }
        let cases: [(name: String, stage: FilterStages, filters: [any Filter])] = [
            ("authentication, call stage", .call, [Only(filter: .authentication(session), stages: .call)]),
            ("authentication, hop stage", .hop, [Only(filter: .authentication(session), stages: .hop)]),
            ("cookies, none", .hop, [.cookies]),
            ("cookies of other hosts", .hop, [.cookies(other)]),
            ("cookies, five sent", .hop, [.cookies(full)]),
        ]
        var rounds = Rounds()
        for _ in 0..<15 {
            for (name, stage) in [("call", FilterStages.call), ("hop", .hop)] {
                let bare = agent(stage, turns, [])
                try await rounds.take(name) { try await cost(of: bare, turns) }
            }
            for (name, stage, filters) in cases {
                let agent = agent(stage, turns, filters)
                try await rounds.take(name) { try await cost(of: agent, turns) }
            }
            let (bare, added) = (
                agent(.hop, turns, []), agent(.hop, turns, [Only(filter: .authentication(session), stages: .hop)])
            )
            try await rounds.take("hop, authorized") { try await cost(of: bare, turns, GetAuthorized()) }
            try await rounds.take("authorized") { try await cost(of: added, turns, GetAuthorized()) }
        }
        for (name, stage, _) in cases {
            let cost = rounds.median(name) - rounds.median(stage == .call ? "call" : "hop")
            print("\(Rounds.pad("adds: " + name, 44)) \(Rounds.number(cost)) µs")
        }
        let rest = rounds.median("authorized") - rounds.median("hop, authorized")
        print("\(Rounds.pad("adds: authentication, hop after call", 44)) \(Rounds.number(rest)) µs")
    }

    private static func agent(_ stage: FilterStages, _ turns: Int, _ filters: [any Filter]) -> NetworkAgent {
        NetworkAgent.benched([Again(count: turns, stages: stage)] + filters + [Respond(stages: stage)])
    }

    private static func cost(
        of agent: NetworkAgent, _ turns: Int, _ request: some Request = GetUsers()
    ) async throws -> Double {
        try await cpuMicroseconds(turns) { _ = try await agent.send(request) }
    }
}
