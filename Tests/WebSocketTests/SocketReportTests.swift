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
}
