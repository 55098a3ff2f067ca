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

/// Typed calls as apps make them, with 1 KB of decoded JSON, compared with libcurl from C: with a log, retry, tokens,
/// cookies, a cache, coalescing and a recorder, and without plugins.
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
        let plugins: [any Filter] = [.retry, .authentication(session), .cookies, .cache(.memory()), .coalescing]
        func agents(_ filters: [any Filter], _ accessories: [any Accessory]) -> [(name: String, agent: NetworkAgent)] {
            let decoders: [(String, any BodyDecoder)] = [("JSONDecoder", JSONDecoder()), ("FastJSONDecoder", .fast)]
            return decoders.map { name, decoder in
                let agent = NetworkAgent(
                    baseURL: server.url, transport: transport, filters: filters, accessories: accessories)
                agent.configure { $0.decoder = decoder }
                return (name, agent)
            }
        }
        let ways = [
            ("no plugins", agents([], [])),
            ("all plugins", agents(plugins, [RequestLog(.line, to: ClosureSink { _ in }), ExchangeRecorder()])),
        ]
        for lanes in [1, 64] {
            let base = "libcurl from C, an agent's headers, \(lanes) at once"
            var rounds = SendRounds(requests)
            for _ in 0..<7 {
                try await rounds.take(base) {
                    try WireBench.check(
                        BareCurl.send(
                            server.url + "/people", headers: BareCurl.agentHeaders, lanes: lanes, count: requests))
                }
                for (way, agents) in ways {
                    let first = agents[0].agent
                    try await rounds.take("\(way), bytes") {
                        try await load(lanes) { _ = try await first.send(GetBytes(number: $0)) }
                    }
                    for (decoder, agent) in agents {
                        try await rounds.take("\(way), \(decoder)") {
                            try await load(lanes) { _ = try await agent.send(GetPeople(number: $0)) }
                        }
                    }
                }
            }
            rounds.report(against: base)
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
}
#else
enum PluginsBench {
    static func run() async throws { print("on Linux only") }
}
#endif
