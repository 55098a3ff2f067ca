import Errand
import ErrandSystemTransport
import ErrandWebSocket
import Foundation
import Testing

@Suite("WebSockets with NIOWebSocket", .timeLimit(.minutes(10))) struct NIOSocketTests {
    private struct Echo: WebSocketRequest {
        typealias Incoming = WebSocketMessage
        typealias Outgoing = WebSocketMessage
        let path = "echo"
        var authorization: Authorization? = .bearer("token")
    }

    @Test("messages of any size are echoed, in fragments with pings in between, and closed properly")
    func echo() async throws {
        let server = try await NIOSocketServer()
        let agent = NetworkAgent(baseURL: server.url, transport: .system)
        let socket = agent.webSocket(Echo())
        var messages = socket.makeAsyncIterator()
        for size in [0, 1, 2, 125, 126, 127, 65_535, 65_536, 500_000] {
            let text = String(repeating: "é", count: size / 2)
            for message in [WebSocketMessage.text(text), .data(Data(repeating: 7, count: size))] {
                try await socket.send(message)
                let reply = try await messages.next()
                #expect(reply?.bytes == message.bytes, "\(size) bytes")
            }
        }
        await socket.close()
        #expect(try await messages.next() == nil)
        try await server.stop()
    }

    @Test("64 sockets of one agent work concurrently")
    func many() async throws {
        let server = try await NIOSocketServer()
        let agent = NetworkAgent(baseURL: server.url, transport: .system)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<64 {
                group.addTask {
                    let socket = agent.webSocket(Echo())
                    var messages = socket.makeAsyncIterator()
                    for round in 0..<20 {
                        try await socket.send(.text("\(number) \(round)"))
                        #expect(try await messages.next()?.bytes == Data("\(number) \(round)".utf8))
                    }
                    await socket.close()
                }
            }
            try await group.waitForAll()
        }
        try await server.stop()
    }

    @Test("a handshake that the server refuses is an error with its status")
    func refused() async throws {
        let server = try await NIOSocketServer()
        let agent = NetworkAgent(baseURL: server.url, transport: .system)
        let socket = agent.webSocket(Echo(authorization: .bearer("another")))
        let error = await #expect(throws: (any Error).self) { try await socket.open() }
        #expect((error as? any RequestFailure)?.response?.status == 403, "\(String(describing: error))")
        try await server.stop()
    }
}
