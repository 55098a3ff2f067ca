import Errand
import ErrandLoadingIndicatorLog
import ErrandObservability
import ErrandSystemTransport
import Foundation
import Logging

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#else
import Darwin
#endif

/// Measures this program's processor time for requests, 64 at a time: bare, then with a span, metrics and a log line
/// each, in alternating rounds. Run `errand-observability-bench http://127.0.0.1:8080/1k`.
@main
struct ObservabilityBench {
    static func main() async throws {
        guard CommandLine.arguments.count > 1 else {
            print("usage: errand-observability-bench URL [requests] [rounds]")
            exit(64)
        }
        let url = CommandLine.arguments[1]
        let count = CommandLine.arguments.dropFirst(2).first.flatMap { Int($0) } ?? 20_000
        let rounds = CommandLine.arguments.dropFirst(3).first.flatMap { Int($0) } ?? 7
        let (tracer, handler) = (CountingTracer(), CountingLog())
        let (tracing, metrics) = (RequestTracing(tracer), RequestMetrics(SummingMetrics()))
        let log = RequestLog(to: LoggerSink(Logger(label: "bench") { _ in handler }))
        let bare = NetworkAgent(baseURL: url, transport: .system)
        let agents: [(name: String, agent: NetworkAgent)] = [
            ("bare", bare), ("tracing", NetworkAgent(baseURL: url, transport: .system, filters: [tracing])),
            ("metrics", NetworkAgent(baseURL: url, transport: .system, filters: [metrics])),
            ("log", NetworkAgent(baseURL: url, transport: .system, accessories: [log])),
            (
                "all three",
                NetworkAgent(
                    baseURL: url, transport: .system, filters: [tracing, metrics],
                    accessories: [tracing, metrics, log])
            ),
        ]
        var times = [[Double]](repeating: [], count: agents.count)
        for round in 0...rounds {
            for (index, each) in agents.enumerated() {
                let start = processorTime()
                try await send(count, to: url, with: each.agent)
                await log.flush()
                // The first round is a warm-up.
                if round > 0 { times[index].append((processorTime() - start) / Double(count) * 1e6) }
            }
        }
        let medians = times.map { $0.sorted()[$0.count / 2] }
        for (each, median) in zip(agents, medians) {
            let text = "\((median * 10).rounded() / 10) µs a request, \((median / medians[0] * 100).rounded() / 100)"
            print("\(each.name): \(text)")
        }
        print("\(tracer.ended.total) spans, \(handler.written.total) log records")
    }

    private static func send(_ count: Int, to url: String, with agent: NetworkAgent) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<64 {
                group.addTask { for _ in 0..<(count / 64) { _ = try await agent.send(Call<Data>(.get, url)) } }
            }
            try await group.waitForAll()
        }
    }

    /// Returns the processor time of all threads in seconds.
    private static func processorTime() -> Double {
        var time = timespec()
        clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time)
        return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
    }
}
