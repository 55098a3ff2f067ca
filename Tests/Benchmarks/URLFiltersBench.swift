import Errand
import ErrandTesting
import ErrandURLFilters
import Foundation

enum URLFiltersBench {
    private struct GetUsers: Request { let path = "users/7?page=2" }

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
                    try await cpuMicroseconds(sends) { for _ in 0..<sends { _ = try await sending.send(GetUsers()) } }
                }
                let turning = agent([Again(count: turns)] + filters + [Respond(headers: [:])])
                try await within.take(name) {
                    try await cpuMicroseconds(turns) { _ = try await turning.send(GetUsers()) }
                }
            }
            await within.take("URL(string:), for the machine's speed") {
                await cpuMicroseconds(turns) {
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
        NetworkAgent.benched(filters)
    }
}
