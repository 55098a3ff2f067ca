import Errand
import ErrandBatch
import ErrandChain
import ErrandTesting
import Foundation

/// Compares a batch with a bare task group, and a chain with plain awaits. The transport responds immediately.
enum BatchBench {
    private struct GetData: Request { let path = "users/7" }

    private static let group = "task group, a task each"
    private static let window = "task group, a window of 6"
    private static let batch = "batch, limit 6"
    private static let results = "batch, results as they finish"
    private static let awaits = "plain awaits"
    private static let body = "chain, a body of steps"
    private static let list = "chain, a list of steps"

    static func run() async throws {
        let response = StubResponse.data(Data([1, 2, 3]))
        let agent = NetworkAgent(
            baseURL: "https://api.example.com/v1", transport: StubTransport(response, maximumRecordedRequests: 0))
        let requests = Array(repeating: GetData(), count: 2_000)
        var costs = CostTable()
        for _ in 0..<25 {
            await costs.takeYardstick(requests.count)
            try await batches(agent, requests, &costs)
            try await chains(agent, &costs, steps: 1_000)
        }
        costs.report()
        costs.report("a step of a body beyond an await", costs[body] - costs[awaits])
        costs.report("a step of a list beyond an await", costs[list] - costs[awaits])
        print("\(Rounds.pad("a batch, of a task group", 44)) \(Rounds.number(costs[batch] / costs[group]))")
        try await memory(agent)
    }

    private static func batches(_ agent: NetworkAgent, _ requests: [GetData], _ costs: inout CostTable) async throws {
        let count = requests.count
        try await costs.take(group, count) { _ = try await all(agent, requests) }
        try await costs.take(window, count) { _ = try await window(agent, requests, limit: 6) }
        try await costs.take(batch, count) { _ = try await agent.run(Batch(requests, maximumConcurrent: 6)) }
        try await costs.take(results, count) {
            for try await _ in agent.results(of: Batch(requests, maximumConcurrent: 6)) {}
        }
    }

    private static func all(_ agent: NetworkAgent, _ requests: [GetData]) async throws -> [Response<Data>] {
        try await withThrowingTaskGroup(of: (Int, Response<Data>).self) { group in
            for (index, request) in requests.enumerated() { group.addTask { (index, try await agent.send(request)) } }
            return try await ordered(&group, requests.count) { _ in }
        }
    }

    private static func window(
        _ agent: NetworkAgent, _ requests: [GetData], limit: Int
    ) async throws -> [Response<Data>] {
        try await withThrowingTaskGroup(of: (Int, Response<Data>).self) { group in
            var next = requests.enumerated().makeIterator()
            func add(_ group: inout ThrowingTaskGroup<(Int, Response<Data>), any Error>) {
                guard let (index, request) = next.next() else { return }
                group.addTask { (index, try await agent.send(request)) }
            }
            for _ in 0..<limit { add(&group) }
            return try await ordered(&group, requests.count) { add(&$0) }
        }
    }

    private static func ordered(
        _ group: inout ThrowingTaskGroup<(Int, Response<Data>), any Error>, _ count: Int,
        _ more: (inout ThrowingTaskGroup<(Int, Response<Data>), any Error>) -> Void
    ) async throws -> [Response<Data>] {
        var responses: [Response<Data>?] = Array(repeating: nil, count: count)
        while let (index, response) = try await group.next() {
            responses[index] = response
            more(&group)
        }
        return responses.compactMap(\.self)
    }

    private static func chains(_ agent: NetworkAgent, _ costs: inout CostTable, steps count: Int) async throws {
        try await costs.take(awaits, count) { for _ in 0..<count { _ = try await agent.send(GetData()) } }
        try await costs.take(body, count) {
            try await agent.run(
                Chain("bench") { steps in for _ in 0..<count { _ = try await steps.send(GetData()) } })
        }
        try await costs.take(list, count) {
            let list = (0..<count).map { _ in ChainStep(GetData()) }
            _ = try await agent.run(Chain("bench", steps: list))
        }
    }

    /// Measures the memory of a running batch, first when it collects its responses, then when it only reads them.
    private static func memory(_ agent: NetworkAgent) async throws {
        let batch = Batch(Array(repeating: GetData(), count: 100_000), maximumConcurrent: 8)
        let before = residentBytes()
        var most = before
        for try await (index, _) in agent.results(of: batch) where index % 1_000 == 0 {
            most = max(most, residentBytes())
        }
        let read = Double(most - before) / 100_000
        let responses = try await agent.run(batch)
        let kept = Double(max(0, residentBytes() - before)) / Double(responses.count)
        print("\(Rounds.pad("memory a part, results as they finish", 44)) \(Rounds.number(read)) bytes")
        print("\(Rounds.pad("memory a part, responses collected", 44)) \(Rounds.number(kept)) bytes")
    }
}
