import Errand
import ErrandTesting
import Foundation

/// The cost of Core, without the wire.
enum CoreBench {
    private struct GetData: Request { let path = "users/7" }
    private struct Passing: Filter {
        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
    }

    private struct Address: Decodable, Sendable { let street, city, zip: String }
    private struct User: Decodable, Sendable {
        let id: Int
        let name, email: String
        let tags: [String]
        let address: Address
        let isActive: Bool
        let score: Double
    }
    private struct GetUser: Request {
        typealias Output = User
        let path = "users/7"
    }
    private struct Deaf: Accessory { func activity(_ activity: Activity, did event: ActivityEvent) {} }

    private static let json = #"""
        {"id": 7, "name": "Ada Lovelace", "email": "ada@example.com", "tags": ["first", "programmer", "countess"],
        "address": {"street": "12 St James's Square", "city": "London", "zip": "SW1Y 4JH"}, "isActive": true,
        "score": 99.5, "note": "The Analytical Engine weaves algebraical patterns, just as the loom weaves leaves."}
        """#

    private static func agent(
        _ response: StubResponse = .data(Data([1, 2, 3])), filters: Int = 0, accessories: [any Accessory] = []
    ) -> NetworkAgent {
        NetworkAgent(
            baseURL: "https://api.example.com/v1", transport: StubTransport(response, maximumRecordedRequests: 0),
            filters: Array(repeating: Passing(), count: filters), accessories: accessories)
    }

    static func run() async throws {
        let (bare, ten, observed, json) = (
            agent(), agent(filters: 10), agent(accessories: [Deaf()]), agent(.json(json))
        )
        let (decoder, bytes, count) = (JSONDecoder(), Data(Self.json.utf8), 2_000)
        var costs = CostTable()
        for _ in 0..<25 {
            await costs.takeYardstick(count)
            await costs.take("URL(string:)", count) {
                for number in 0..<count { _ = URL(string: "https://api.example.com/v1/users/\(number)") }
            }
            try await costs.take("send, no filter", count) {
                for _ in 0..<count { _ = try await bare.send(GetData()) }
            }
            try await costs.take("send from the main actor", count) { try await sendOnMainActor(bare, count) }
            await costs.take("an empty task from the main actor", count) { await beginOnMainActor(count) }
            try await costs.take("send, 10 filters", count) {
                for _ in 0..<count { _ = try await ten.send(GetData()) }
            }
            try await costs.take("send, an accessory that drops all events", count) {
                for _ in 0..<count { _ = try await observed.send(GetData()) }
            }
            try await costs.take("send, 300 bytes of JSON as data", count) {
                for _ in 0..<count { _ = try await json.send(GetData()) }
            }
            try await costs.take("send, 300 bytes of JSON into a struct", count) {
                for _ in 0..<count { _ = try await json.send(GetUser()) }
            }
            try await costs.take("JSONDecoder alone", count) {
                for _ in 0..<count { _ = try decoder.decode(User.self, from: bytes) }
            }
            await costs.take("start + cancel, 1000 at once", 1000) {
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<1000 {
                        let handle = bare.start(GetData())
                        handle.cancel()
                        group.addTask { _ = await handle.result }
                    }
                }
            }
        }
        costs.report()
        let send = costs["send, no filter"]
        costs.report("each idle filter", (costs["send, 10 filters"] - send) / 10)
        costs.report("the accessory", costs["send, an accessory that drops all events"] - send)
        costs.report(
            "decoding beyond JSONDecoder",
            costs["send, 300 bytes of JSON into a struct"] - costs["send, 300 bytes of JSON as data"]
                - costs["JSONDecoder alone"])
        try await memory(bare)
        try await memoryAtOnce()
    }

    /// Leaves the main thread and returns to it for each request.
    @MainActor private static func sendOnMainActor(_ agent: NetworkAgent, _ count: Int) async throws {
        for _ in 0..<count { _ = try await agent.send(GetData()) }
    }

    @MainActor private static func beginOnMainActor(_ count: Int) async {
        for _ in 0..<count { await Task { @concurrent in }.value }
    }

    private static func memoryAtOnce() async throws {
        let agent = NetworkAgent(
            baseURL: "https://api.example.com/v1",
            transport: StubTransport(maximumRecordedRequests: 0) { _ in
                try await Task.sleep(for: .seconds(3600))
                return .data(Data([1]))
            })
        let (before, count) = (residentBytes(), 10_000)
        let handles = (0..<count).map { _ in agent.start(GetData()) }
        try await Task.sleep(for: .seconds(2))
        let each = Double(max(0, residentBytes() - before)) / Double(count) / 1024
        print("\(Rounds.pad("memory of 10,000 requests at once, each", 44)) \(Rounds.number(each)) KB")
        agent.cancelAll()
        for handle in handles { _ = await handle.result }
    }

    /// The memory grows only if something keeps parts of finished requests.
    private static func memory(_ agent: NetworkAgent) async throws {
        for _ in 0..<50_000 { _ = try await agent.send(GetData()) }
        let before = residentBytes()
        for _ in 0..<200_000 { _ = try await agent.send(GetData()) }
        let kept = Double(max(0, residentBytes() - before)) / 200_000
        print("\(Rounds.pad("kept of a request that has ended", 44)) \(Rounds.number(kept)) bytes")
    }
}
