import Errand
import ErrandCurlTransport
import ErrandTesting
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Requests a second against the loopback server in this process: 1 KB answers, keep-alive.
enum WireBench {
    private struct Get: Request { let path = "kilobyte" }

    static func run() async throws {
        let server = try TestServer()
        server.on(.get, "/kilobyte", .data(Data(repeating: 0x61, count: 1024), contentType: "text/plain"))
        let url = URL(string: server.url("kilobyte"))
        guard let url else { return }
        let transport = CurlTransport()
        let agent = NetworkAgent(baseURL: server.url, transport: transport)
        let session = URLSession(configuration: .default)
        let request = HTTPRequest(.get, url)
        for lanes in [1, 64] {
            var rounds = Rounds()
            for _ in 0..<5 {
                try await rounds.take("URLSession.default, \(lanes) at a time") {
                    try await rate(lanes, 1500) { try await load(url, session) }
                }
                try await rounds.take("the curl transport alone, \(lanes) at a time") {
                    try await rate(lanes, 6000) {
                        let response = try await transport.send(request, options: TransportOptions())
                        _ = try await response.body.collect(upTo: 4096)
                    }
                }
                try await rounds.take("through the agent, \(lanes) at a time") {
                    try await rate(lanes, 6000) { _ = try await agent.send(Get()) }
                }
            }
            rounds.report("req/s", against: "URLSession.default, \(lanes) at a time")
        }
        session.invalidateAndCancel()
    }

    private static func rate(_ lanes: Int, _ count: Int, _ one: @escaping @Sendable () async throws -> Void)
        async throws -> Double
    {
        let each = count / lanes
        let start = ContinuousClock.now
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<lanes { group.addTask { for _ in 0..<each { try await one() } } }
            try await group.waitForAll()
        }
        return Double(each * lanes) / ((ContinuousClock.now - start) / .seconds(1))
    }

    /// The completion style: the async one can hang the process on Linux.
    private static func load(_ url: URL, _ session: URLSession) async throws {
        try await withCheckedThrowingContinuation { (continuation: CheckedContinuation<Void, any Error>) in
            session.dataTask(with: url) { data, _, error in
                if let error { continuation.resume(throwing: error) } else { continuation.resume() }
            }.resume()
        }
    }
}
