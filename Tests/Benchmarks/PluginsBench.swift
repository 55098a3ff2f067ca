#if os(Linux)
import CErrandBareCurl
import Errand
import ErrandAuthentication
import ErrandCache
import ErrandCoalescing
import ErrandCookies
import ErrandCurlTransport
import ErrandJSONDecoding
import ErrandLoadingIndicatorLog
import ErrandRecording
import ErrandRetry
import Foundation

/// A typed call as apps make it, with a log, retry, tokens, cookies, a cache, coalescing, a recorder, and 1 KB of
/// decoded JSON, compared with libcurl from C: processor time of the whole process, as the minimum of rounds in turn.
enum PluginsBench {
    private struct GetPeople: Request {
        typealias Output = [JSONValidationBench.Person]
        let number: Int
        var path: String { "people?n=\(number)" }
    }

    private struct GetBytes: Request {
        let number: Int
        var path: String { "people?n=\(number)" }
    }

    private static let requests = 6400

    static func run() async throws {
        let server = try await BenchServer.start()
        let session = AuthenticationSession(BearerToken("0123456789abcdefghij", expiry: .distantFuture)) { $0 }
        let transport = CurlTransport()
        func agent(_ decoder: any BodyDecoder) -> NetworkAgent {
            let agent = NetworkAgent(
                baseURL: server.url, transport: transport,
                filters: [.retry, .authentication(session), .cookies, .cache(.memory()), .coalescing],
                accessories: [RequestLog(.line, to: ClosureSink { _ in }), ExchangeRecorder()])
            agent.configure { $0.decoder = decoder }
            return agent
        }
        let agents = [("JSONDecoder", agent(JSONDecoder())), ("FastJSONDecoder", agent(.fast))]
        let bare = NetworkAgent(baseURL: server.url, transport: transport)
        for lanes in [1, 64] {
            let base = "libcurl from C, an agent's headers, \(lanes) at once"
            var costs = Rounds()
            for _ in 0..<7 {
                try await costs.take(base) {
                    try await cost {
                        try WireBench.check(
                            BareCurl.send(
                                server.url + "/people", headers: BareCurl.agentHeaders, lanes: lanes, count: requests))
                    }
                }
                try await costs.take("an agent without plugins, bytes") {
                    try await cost { try await load(lanes) { _ = try await bare.send(GetBytes(number: $0)) } }
                }
                try await costs.take("all plugins, bytes") {
                    try await cost {
                        try await load(lanes) { _ = try await agents[0].1.send(GetBytes(number: $0)) }
                    }
                }
                for (name, agent) in agents {
                    try await costs.take("all plugins, \(name)") {
                        try await cost { try await load(lanes) { _ = try await agent.send(GetPeople(number: $0)) } }
                    }
                }
            }
            costs.reportMinimum("CPU µs", against: base)
        }
        withExtendedLifetime(server) {}
    }

    /// Sends requests to different URLs, so no plugin can share a response.
    private static func load(_ lanes: Int, _ one: @escaping @Sendable (Int) async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for lane in 0..<lanes {
                group.addTask { for turn in 0..<requests / lanes { try await one(turn * lanes + lane) } }
            }
            try await group.waitForAll()
        }
    }

    private static func cost(_ body: () async throws -> Void) async rethrows -> Double {
        let start = WireBench.processorTime()
        try await body()
        return (WireBench.processorTime() - start) * 1e6 / Double(requests)
    }
}
#else
enum PluginsBench {
    static func run() async throws { print("on Linux only") }
}
#endif
