import Errand
import ErrandTesting
import Foundation

/// What Core itself costs: everything but the wire.
enum CoreBench {
    private struct GetData: Request { let path = "users/7" }
    private struct Passing: Filter {
        func filter(_ exchange: Exchange, next: Next) async throws -> HTTPResponse { try await next(exchange) }
    }

    static func run() async throws {
        let answer = StubAnswer.data(Data([1, 2, 3]))
        func agent(_ filters: Int) -> NetworkAgent {
            let transport = StubTransport(answer, recording: 0)
            return NetworkAgent(
                baseURL: "https://api.example.com/v1", transport: transport,
                filters: Array(repeating: Passing(), count: filters))
        }
        let (bare, ten) = (agent(0), agent(10))
        let count = 50_000
        var rounds = Rounds()
        for _ in 0..<5 {
            await rounds.take("URL(string:), for the machine's speed") {
                await microseconds(count) {
                    for number in 0..<count { _ = URL(string: "https://api.example.com/v1/users/\(number)") }
                }
            }
            try await rounds.take("send, no filter") {
                try await microseconds(count) { for _ in 0..<count { _ = try await bare.send(GetData()) } }
            }
            try await rounds.take("send, 10 filters") {
                try await microseconds(count) { for _ in 0..<count { _ = try await ten.send(GetData()) } }
            }
            await rounds.take("start + cancel, 1000 at once") {
                await microseconds(1000) {
                    await withTaskGroup(of: Void.self) { group in
                        for _ in 0..<1000 {
                            let handle = bare.start(GetData())
                            handle.cancel()
                            group.addTask { _ = await handle.result }
                        }
                    }
                }
            }
        }
        rounds.report("µs", against: "send, no filter")
        let filter = (rounds.median("send, 10 filters") - rounds.median("send, no filter")) / 10
        print("\(Rounds.pad("each filter", 44)) \(Rounds.number(filter * 1000)) ns")
        try await memory(bare)
    }

    /// Grows only if something is kept of a request that has ended.
    private static func memory(_ agent: NetworkAgent) async throws {
        for _ in 0..<50_000 { _ = try await agent.send(GetData()) }
        let before = residentBytes()
        for _ in 0..<200_000 { _ = try await agent.send(GetData()) }
        let kept = Double(max(0, residentBytes() - before)) / 200_000
        print("\(Rounds.pad("kept of a request that has ended", 44)) \(Rounds.number(kept)) bytes")
    }
}
