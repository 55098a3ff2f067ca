#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandTestPrograms
import Foundation

/// Requests 1 KB over HTTP/2 and TLS, with one concurrent request for each lane on one connection, compared with
/// libcurl from C with the same headers: processor time and rate.
enum HTTP2Bench {
    private struct Get: Request { let path = "kilobyte" }

    private static let requests = 6400

    static func run() async throws {
        guard Nginx.isInstalled else { return print("needs nginx") }
        let server = try await start()
        let authority = server.file("root.pem")
        var configuration = CurlConfiguration()
        configuration.tls.roots = .file(URL(filePath: authority))
        let transport = CurlTransport(configuration)
        let text = server.url("secure", "/kilobyte")
        guard let url = URL(string: text) else { return }
        let agent = NetworkAgent(baseURL: server.url("secure"), transport: transport)
        let request = HTTPRequest(.get, url)
        let version = try await transport.send(request, options: TransportOptions()).version
        guard version == "2" else { return print("this libcurl has no HTTP/2") }
        for lanes in [1, 64] {
            let bare = "libcurl from C, HTTP/2, \(lanes) at once"
            var rounds = SendRounds(requests)
            for _ in 0..<9 {
                try await rounds.take(bare) {
                    try WireBench.check(
                        BareCurl.send(
                            text, authority: authority, headers: BareCurl.agentHeaders, lanes: lanes, count: requests))
                }
                try await rounds.take("CurlTransport") {
                    try await WireBench.load(lanes, requests) {
                        _ = try await transport.send(request, options: TransportOptions())
                    }
                }
                try await rounds.take("an agent") {
                    try await WireBench.load(lanes, requests) { _ = try await agent.send(Get()) }
                }
            }
            rounds.report(against: bare)
        }
        withExtendedLifetime(server) {}
    }

    static func start() async throws -> Nginx {
        try await Nginx(
            [("secure", " ssl http2; location /post { return 204; }")],
            files: ["kilobyte": Data(repeating: 0x61, count: 1024)],
            settings: "keepalive_requests 1000000000;")
    }
}
#else
enum HTTP2Bench {
    static func run() async throws { print("on Linux only") }
}
#endif
