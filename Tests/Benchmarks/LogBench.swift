import Errand
import ErrandLoadingIndicatorLog
import ErrandRecording
import ErrandTesting
import Foundation

/// What a log, an indicator and a recorder cost a request.
enum LogBench {
    private struct GetData: Request { let path = "users/7" }

    /// Receives every event and does nothing, so that Core's cost of notifying is not counted as the log's.
    private struct Idle: Accessory {
        func activity(_ activity: Activity, did event: ActivityEvent) {}
    }

    static func run() async throws {
        let answer = StubResponse.data(Data([1, 2, 3]))
        func agent(_ accessories: [any Accessory]) -> NetworkAgent {
            NetworkAgent(
                baseURL: "https://api.example.com/v1", transport: StubTransport(answer, recording: 0),
                accessories: accessories)
        }
        let off = RequestLog(.off)
        let line = RequestLog(.line, to: ClosureSink { _ = $0.line.utf8.count }, queueing: 100_000)
        let agents: [(name: String, agent: NetworkAgent)] = [
            ("no accessory", agent([])), ("an accessory that does nothing", agent([Idle()])),
            ("a log that is off", agent([off])),
            ("with a log of lines beside it", agent([Idle(), line])),
            ("with an indicator beside it", agent([Idle(), LoadingIndicator()])),
            ("with a recorder beside it", agent([Idle(), ExchangeRecorder()])),
            ("with a recorder that only counts beside it", agent([Idle(), ExchangeRecorder(keeping: 0)])),
        ]
        let count = 20_000
        var rounds = Rounds()
        for _ in 0..<7 {
            for (name, agent) in agents {
                try await rounds.take(name) {
                    try await microseconds(count) { for _ in 0..<count { _ = try await agent.send(GetData()) } }
                }
                await line.flush()
            }
        }
        rounds.report("µs", against: "no accessory")
        func adds(_ name: String, to base: String) {
            let cost = (rounds.median(name) - rounds.median(base)) * 1000
            print("\(Rounds.pad("adds: " + name, 44)) \(Rounds.number(cost)) ns")
        }
        adds("a log that is off", to: "no accessory")
        adds("with a log of lines beside it", to: "an accessory that does nothing")
        for name in [
            "with an indicator beside it", "with a recorder beside it", "with a recorder that only counts beside it",
        ] { adds(name, to: "an accessory that does nothing") }
    }
}
