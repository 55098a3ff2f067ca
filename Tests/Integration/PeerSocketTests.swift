#if os(Linux)
import Errand
import ErrandCurlTransport
import ErrandTestSupport
import ErrandTesting
import ErrandWebSocket
import Foundation
import Testing

/// A server of PyPI's `websockets`, with and without TLS. It runs as long as this object exists.
private final class PythonPeer: Sendable {
    static func isInstalled() async -> Bool {
        let output = try? await Program("env")?.run(["python3", "-c", "import websockets.asyncio.server"])
        return output?.status == 0 && Nginx.isInstalled
    }

    let folder: Folder
    let ports: [String: Int]
    private let process: RunningProgram

    init() async throws {
        folder = try Folder(["server.py": Self.text])
        try await Nginx.makeCertificates(in: folder.url)
        let python = try #require(Program("env"))
        process = try python.start(["python3", "server.py"], in: folder.url, isKept: true)
        let (folder, process) = (folder, process)
        try await eventually { process.hasEnded || FileManager.default.fileExists(atPath: folder.path("ports")) }
        ports = try JSONDecoder().decode([String: Int].self, from: folder.data("ports"))
    }

    private static let text = #"""
        import asyncio, json, os, ssl
        from websockets.asyncio.server import basic_auth, serve

        async def converse(socket):
            path = socket.request.path
            if path == "/enough":
                return await socket.close(4002, "enough")
            if path == "/fragments":
                await socket.send(["Grü", "", "ße"])
                pong = await socket.ping("there?")
                await pong
                return await socket.send(socket.subprotocol)
            if path == "/dropped":
                return socket.transport.abort()
            async for message in socket:
                await socket.send(message)

        async def main():
            tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            tls.load_cert_chain("named.pem", "named.key")
            # Without the server's timeouts, a busy machine doesn't end connections.
            options = {"subprotocols": ["notes.v2"], "max_size": 1 << 20, "open_timeout": None, "ping_interval": None}
            users = basic_auth(realm="here", credentials=("ada", "secret"))
            servers = {
                "plain": await serve(converse, "127.0.0.1", 0, **options),
                "tls": await serve(converse, "127.0.0.1", 0, ssl=tls, **options),
                "private": await serve(converse, "127.0.0.1", 0, process_request=users, **options),
            }
            ports = {name: server.sockets[0].getsockname()[1] for name, server in servers.items()}
            with open("ports.new", "w") as file:
                json.dump(ports, file)
            os.rename("ports.new", "ports")
            await asyncio.get_running_loop().create_future()

        asyncio.run(main())
        """#
}

@Suite(
    "WebSockets of a server in Python", .serialized,
    .enabled("python3 with websockets, nginx and openssl are needed") { await PythonPeer.isInstalled() },
    .endsInTime, .leakChecked)
struct PeerSocketTests {
    private struct Lines: WebSocketRequest {
        typealias Incoming = String
        typealias Outgoing = String
        var path = "echo"
        var compression = WebSocketCompression.standard
        var webSocketOptions: WebSocketOptions {
            WebSocketOptions(subprotocols: ["notes.v2"], compression: compression)
        }
    }

    private let peer: PythonPeer

    init() async throws { peer = try await PythonPeer() }

    private func url(_ name: String, scheme: String = "http") throws -> String {
        "\(scheme)://localhost:\(try #require(peer.ports[name]))"
    }

    private func agent(_ url: String) -> NetworkAgent {
        var configuration = CurlConfiguration()
        configuration.tls.roots = .file(URL(filePath: peer.folder.path("root.pem")))
        return NetworkAgent(baseURL: url, transport: .curl(configuration))
    }

    private func echo(_ agent: NetworkAgent) async throws {
        for isDeflated in [false, true] {
            let socket = agent.webSocket(Lines(compression: isDeflated ? .standard : .off))
            let texts = ["short", String(repeating: "grüße ", count: 100_000), "", "short"]
            for text in texts { try await socket.send(text) }
            var received: [String] = []
            for try await text in socket.prefix(texts.count) { received.append(text) }
            #expect(received == texts)
            let extensions = socket.response?.headers["Sec-WebSocket-Extensions"] ?? ""
            #expect(extensions.hasPrefix("permessage-deflate") == isDeflated)
            await socket.close()
        }
    }

    @Test("messages are echoed over TCP and TLS, directly and through nginx")
    func echoes() async throws {
        try await echo(agent(url("plain")))
        try await echo(agent(url("tls", scheme: "https")))
        let upgrade = """
            proxy_http_version 1.1; proxy_set_header Upgrade $http_upgrade;
            proxy_set_header Connection $http_connection; proxy_set_header Host $http_host;
            """
        let nginx = try await Nginx([
            ("plain", "; location / { proxy_pass \(try url("plain")); \(upgrade) }"),
            ("tls", "; location / { proxy_pass \(try url("tls", scheme: "https")); \(upgrade) }"),
        ])
        for name in ["plain", "tls"] { try await echo(agent(nginx.url(name, scheme: "http", host: "127.0.0.1"))) }
    }

    @Test("fragments form one message, pings are answered, and the subprotocol is the chosen one")
    func fragments() async throws {
        let socket = agent(try url("plain")).webSocket(Lines(path: "fragments"))
        var received: [String] = []
        for try await text in socket { received.append(text) }
        #expect(received == ["Grüße", "notes.v2"] && socket.subprotocol == "notes.v2")
    }

    @Test("close codes, message limits, resets and a 401 are the matching errors")
    func endings() async throws {
        let agent = agent(try url("plain"))
        let enough = await #expect(throws: WebSocketError.self) {
            for try await _ in agent.webSocket(Lines(path: "enough")) {}
        }
        #expect(enough?.closeCode?.rawValue == 4002 && enough?.reason == "enough")
        let long = agent.webSocket(Lines(compression: .off))
        // The server may close the socket before or after it has received the whole message.
        do { try await long.send(String(repeating: "x", count: 1 << 20 | 1)) } catch let error as WebSocketError {
            #expect(error.closeCode == .messageTooBig)
        }
        let tooBig = await #expect(throws: WebSocketError.self) { for try await _ in long {} }
        #expect(tooBig?.closeCode == .messageTooBig)
        let dropped = await #expect(throws: ErrandError.self) {
            for try await _ in agent.webSocket(Lines(path: "dropped")) {}
        }
        #expect(dropped?.code == .connectionLost)
        let refused = self.agent(try url("private"))
        let unauthorized = await #expect(throws: ErrandError.self) { try await refused.webSocket(Lines()).open() }
        #expect(unauthorized?.response?.status == 401)
        refused.configure { $0.authorization = .basic(user: "ada", password: "secret") }
        try await echo(refused)
    }
}
#endif
