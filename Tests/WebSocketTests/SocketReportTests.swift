import Errand
import ErrandEssentials
import ErrandSystemTransport
import ErrandTesting
import Testing

@testable import ErrandWebSocket

/// Ends of connections that other libraries got wrong; the reports are in Tests/Lessons.md.
@Suite("Ends of connections that other WebSocket libraries got wrong", .endsInTime, .leakChecked)
struct SocketReportTests {
    private let server: TestServer
    private let agent: NetworkAgent

    init() throws {
        server = try TestServer()
        agent = NetworkAgent(baseURL: server.url, transport: .system)
    }

    @Test("a close frame that comes byte by byte keeps its code and its reason", arguments: [1, 2, 3, 5])
    func splitClose(pieces: Int) async throws {
        server.on(
            "/socket",
            .webSocket { socket in
                try socket.send(.text("last"), inPiecesOf: pieces)
                try socket.send(.close(4000, "a longer reason: Grüße"), inPiecesOf: pieces)
                _ = try socket.receive()
            })
        let socket = agent.webSocket(QuietLines())
        var reader = socket.makeAsyncIterator()
        #expect(try await reader.next() == "last")
        let failure = await #expect(throws: WebSocketError.self) { try await reader.next() }
        #expect(failure?.closeCode?.rawValue == 4000 && failure?.reason == "a longer reason: Grüße")
    }

    @Test("pings that cross our close frame don't disturb the end")
    func pingAfterClose() async throws {
        let received = Log<UInt8>()
        server.on(
            "/socket",
            .webSocket { socket in
                while let frame = try socket.receive() {
                    received.add(frame.opcode)
                    guard frame.opcode == 8 else { continue }
                    for number in 0..<20 { try socket.send(.ping("\(number)")) }
                    try socket.send(.text("late"))
                    try socket.send(.close(frame.closeCode))
                    return
                }
            })
        let socket = agent.webSocket(QuietLines())
        try await socket.open()
        await socket.close()
        guard case .closed = socket.state else { return _ = Issue.record("\(socket.state)") }
        try await server.waitUntilNoConnections()
        // The client doesn't send anything after its close frame.
        #expect(received.all.last == 8 && received.all.count { $0 == 8 } == 1)
    }

    @Test(
        "a handshake that is redirected to another origin goes there without secrets", arguments: [301, 302, 307, 308])
    func redirectedHandshake(status: Int) async throws {
        let stub = StubTransport()
        stub.on("/socket", response: .redirect(to: "/near", status: status))
        stub.on("/near", response: .redirect(to: "https://other.example/far", status: status))
        stub.on("/far", response: .webSocket { try await $0.close() })
        let agent = NetworkAgent(baseURL: "https://example.com", transport: stub)
        agent.configure {
            $0.authorization = .bearer("canary")
            $0.headers["Cookie"] = "session=canary"
        }
        for try await _ in agent.webSocket(QuietLines()) {}
        #expect(stub.received.map(\.url.absoluteString).last == "https://other.example/far")
        #expect(stub.received.map { $0.headers[.authorization] } == ["Bearer canary", "Bearer canary", nil])
        #expect(stub.received.map { $0.headers[.cookie] } == ["session=canary", "session=canary", nil])
        #expect(stub.received.allSatisfy { $0.headers[.upgrade] == "websocket" })
    }

    @Test("a socket from https isn't redirected to http")
    func downgradedHandshake() async throws {
        for target in ["http://example.com/plain", "ws://example.com/plain"] {
            let stub = StubTransport()
            stub.on("/socket", response: .redirect(to: target))
            stub.on("/plain", response: .webSocket { try await $0.close() })
            let agent = NetworkAgent(baseURL: "https://example.com", transport: stub)
            await #expect(throws: (any Error).self) { try await agent.webSocket(QuietLines()).open() }
            #expect(stub.received.count == 1)
        }
    }

    @Test("after a sleep of the device, a connection that no longer answers is replaced")
    func sleptThrough() async throws {
        let (time, connections, pinged) = (ManualTimeSource(), Counter(), Gate())
        server.on(
            "/socket",
            .webSocket { socket in
                if connections.increment() > 1 {
                    try socket.send(.text("again"))
                    _ = try socket.receive()
                    return
                }
                _ = try socket.receive()
                try socket.connection.wait(for: pinged)
                try socket.connection.stall()
            })
        let clocked = NetworkAgent(baseURL: server.url, transport: .system, time: time)
        var lines = QuietLines()
        lines.webSocketOptions = WebSocketOptions(
            reconnection: ReconnectionPolicy(
                backoff: Backoff(base: .zero, maximumDelay: .zero), minimumDelay: .zero),
            pingInterval: .seconds(20), pongTimeout: .seconds(10))
        let socket = clocked.webSocket(lines)
        try await socket.open()
        let reading = Task { try await socket.first { _ in true } }
        try await time.waitForSleepers()
        time.advance(by: .seconds(8 * 3600))
        try await pinged.reached()
        pinged.open()
        try await eventually { time.nextWake == time.now.advanced(by: .seconds(10)) }
        time.advance(by: .seconds(10))
        #expect(try await reading.value == "again")
    }
}
