import Errand
import ErrandTesting
import ErrandURLFilters
import Foundation

/// What URL filters add to a request.
///
/// A difference of two sends drowns in what the scheduler does with them, so the filters are also run many times within
/// one send: a filter above them calls `next` again and again, one below answers.
enum URLFiltersBench {
    private struct GetUsers: Request { let path = "users/7?page=2" }

    private struct Again: Filter {
        let count: Int
        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
            for _ in 1..<count { _ = try await next(exchange) }
            return try await next(exchange)
        }
    }

    private struct Answer: Filter {
        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse {
            HTTPResponse(url: exchange.http.url, status: 200)
        }
    }

    private static let cases: [(name: String, filters: [any Filter])] = [
        ("no filter", []),
        ("one that appends an item", [.urls(.query(["v": "3"]))]),
        ("one that a cache's key does not see", [.urls(.query(["v": "3"], inCacheKey: false))]),
        ("a prefix and two queries", [.urls(.prefix("/api"), .query(["v": "3"]), .query(["p": "linux"]))]),
        ("a common header", [.headers(["X-App": "shop"])]),
        ("a signature", [.urls(.sign(key: "secret"))]),
    ]

    static func run() async throws {
        let (sends, turns) = (5_000, 20_000)
        var (whole, within) = (Rounds(), Rounds())
        for _ in 0..<15 {
            for (name, filters) in cases {
                let sending = agent(filters)
                try await whole.take(name) {
                    try await processor(sends) { for _ in 0..<sends { _ = try await sending.send(GetUsers()) } }
                }
                let turning = agent([Again(count: turns)] + filters + [Answer()])
                try await within.take(name) { try await processor(turns) { _ = try await turning.send(GetUsers()) } }
            }
            await within.take("URL(string:), for the machine's speed") {
                await processor(turns) {
                    for number in 0..<turns { _ = URL(string: "https://api.example.com/v1/users/\(number)?v=3") }
                }
            }
        }
        print("whole sends:")
        whole.report("µs", against: "no filter")
        print("within one send:")
        within.report("µs", against: "no filter")
        for (name, _) in cases.dropFirst() {
            let cost = within.median(name) - within.median("no filter")
            let share = cost / whole.median("no filter") * 100
            print("\(Rounds.pad("adds: " + name, 44)) \(Rounds.number(cost)) µs, \(Rounds.number(share)) % of a send")
        }
    }

    private static func agent(_ filters: [any Filter]) -> NetworkAgent {
        NetworkAgent(
            baseURL: "https://api.example.com/v1", transport: StubTransport(.text("ok"), recording: 0),
            filters: filters)
    }

    /// Microseconds of the processor that a body takes, for each of its `count` parts.
    private static func processor(_ count: Int, _ body: () async throws -> Void) async rethrows -> Double {
        let start = clock()
        try await body()
        return Double(clock() - start) / Double(CLOCKS_PER_SEC) * 1_000_000 / Double(count)
    }
}
