#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandTestSupport
import ErrandTesting
import ErrandWebSocket
import Foundation
import Testing

@Suite(
    "WebSockets through nginx", .serialized, .enabled(if: Nginx.isInstalled, "\(Nginx.skipReason)"),
    .endsInTime, .leakChecked)
struct NginxSocketTests {
    private struct Lines: WebSocketRequest {
        typealias Incoming = String
        typealias Outgoing = String
        var path: String { "socket" }
    }

    private let server: TestServer
    private let nginx: Nginx

    init() async throws {
        server = try TestServer()
        server.on("/socket", .webSocket { try $0.echo() })
        let place = """
            location / {
                proxy_pass \(server.url);
                proxy_http_version 1.1;
                proxy_set_header Upgrade $http_upgrade;
                proxy_set_header Connection $http_connection;
            }
            """
        let tls = " ssl http2; ssl_certificate named.pem; ssl_certificate_key named.key; "
        nginx = try await Nginx([("plain", "; \(place)"), ("tls", "\(tls)\(place)")], files: [:])
    }

    private func agent(_ url: String, pins: [String] = []) -> NetworkAgent {
        var configuration = CurlConfiguration()
        configuration.tls.roots = .file(URL(filePath: nginx.file("root.pem")))
        if !pins.isEmpty { configuration.tls.publicKeyPins["localhost"] = pins }
        return NetworkAgent(baseURL: url, transport: .curl(configuration))
    }

    private func echo(_ agent: NetworkAgent) async throws {
        let socket = agent.webSocket(Lines())
        let long = String(repeating: "grüße ", count: 100_000)
        for text in ["short", long, ""] { try await socket.send(text) }
        var received: [String] = []
        for try await text in socket.prefix(3) { received.append(text) }
        #expect(received == ["short", long, ""])
        await socket.close()
    }

    @Test("messages are exchanged over TCP, and over TLS with your own authority and a pinned key")
    func echoes() async throws {
        try await echo(agent(nginx.url("plain", scheme: "http", host: "127.0.0.1")))
        try await echo(agent(nginx.url("tls"), pins: [try await nginx.pin("named")]))
    }

    @Test("an untrusted authority, another host and another key are refused before anything is sent")
    func refused() async throws {
        let other = Data(repeating: 7, count: 32).base64EncodedString()
        let agents = [
            NetworkAgent(baseURL: nginx.url("tls"), transport: .curl), agent(nginx.url("tls", host: "127.0.0.1")),
            agent(nginx.url("tls"), pins: [other]),
        ]
        for agent in agents {
            let error = await #expect(throws: ErrandError.self) { try await agent.webSocket(Lines()).open() }
            #expect(error?.code == .insecureConnection, "\(error.debugDescription)")
        }
        #expect(server.requestCount == 0)
    }
}
#endif
