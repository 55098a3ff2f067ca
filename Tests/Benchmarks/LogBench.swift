import Errand
import ErrandLoadingIndicatorLog
import ErrandRecording
import ErrandTesting
import Foundation

/// The cost that a log, an activity indicator and a recorder add to a request, on all threads.
enum LogBench {
    private struct GetData: Request { let path = "users/7" }

    /// The baseline: it keeps Core's cost of notifying out of the log's cost.
    private struct Idle: Accessory {
        func activity(_ activity: Activity, did event: ActivityEvent) {}
    }

    static func run() async throws {
        let response = StubResponse.data(Data([1, 2, 3]))
        func agent(_ accessories: [any Accessory]) -> NetworkAgent {
            NetworkAgent(
                baseURL: "https://api.example.com/v1", transport: StubTransport(response, maximumRecordedRequests: 0),
                accessories: accessories)
        }
        let off = RequestLog(.off)
        let line = RequestLog(.line, to: ClosureSink { _ = $0.line.utf8.count }, maximumQueue: 100_000)
        let idle = "an accessory that does nothing"
        let agents: [(name: String, agent: NetworkAgent)] = [
            ("no accessory", agent([])), (idle, agent([Idle()])), ("a log that is off", agent([off])),
            ("a log of lines beside it", agent([Idle(), line])),
            ("an indicator beside it", agent([Idle(), LoadingIndicator()])),
            ("a recorder beside it", agent([Idle(), ExchangeRecorder()])),
            ("a recorder that only counts beside it", agent([Idle(), ExchangeRecorder(maximumExchanges: 0)])),
        ]
        let count = 2_000
        var costs = CostTable()
        for _ in 0..<25 {
            await costs.takeYardstick(count)
            for (name, agent) in agents {
                try await costs.take(name, count) {
                    for _ in 0..<count { _ = try await agent.send(GetData()) }
                    // Include the work of the log's thread.
                    await line.flush()
                }
            }
        }
        costs.report()
        costs.report("adds: a log that is off", costs["a log that is off"] - costs["no accessory"])
        for (name, _) in agents.dropFirst(3) { costs.report("adds: \(name)", costs[name] - costs[idle]) }
    }
}
