import Errand
import ErrandEssentials
import ErrandSystemTransport
import ErrandTesting
import Foundation
import Testing

@testable import ErrandWebSocket

/// Messages and ends that other WebSocket libraries got wrong. Tests/Lessons.md has the reports.
@Suite("Messages and ends that other WebSocket libraries got wrong", .endsInTime, .leakChecked)
struct SocketMessageReportTests {
    private let server: TestServer
    private let agent: NetworkAgent

    init() throws {
        server = try TestServer()
        agent = NetworkAgent(baseURL: server.url, transport: .system)
    }

    @Test("a ping between the fragments of a deflated message doesn't end its compression", arguments: [1, 2, 1000])
    func deflatedAroundPing(pieces: Int) throws {
        let agreement = DeflateAgreement(clientWindow: 15, clientKeepsWindow: true)
        let frames = [
            TestFrame(opcode: 1, Data([0xF2, 0x48, 0xCD]), isFinal: false, reserved: 4), .ping("1"),
            TestFrame(opcode: 0, Data([0xC9, 0xC9]), isFinal: false), .pong(),
            TestFrame(opcode: 0, Data([0x07, 0x00])), .ping("2"),
            TestFrame(opcode: 1, Data([0xF2, 0x00, 0x11, 0x00, 0x00]), reserved: 4),
        ]
        var reader = MessageReader(limit: 100, agreement)
        var events: [MessageReader.Event] = []
        var rest = frames.reduce(Data()) { $0 + $1.wireBytes() }[...]
        while !rest.isEmpty {
            reader.push(rest.prefix(pieces))
            rest = rest.dropFirst(pieces)
            while let event = try reader.next() { events.append(event) }
        }
        let hello = MessageReader.Event.message(.text("Hello"))
        #expect(events == [.ping(Data("1".utf8)), .pong(Data()), hello, .ping(Data("2".utf8)), hello])
    }

    @Test(
        "a server that refuses the first message of each connection by a close frame ends the socket with its code",
        arguments: [false, true])
    func refusedGreeting(reconnects: Bool) async throws {
        let connections = Counter()
        server.on(
            "/socket",
            .webSocket { socket in
                connections.increment()
                _ = try socket.receive()
                _ = try socket.close(4401, "Unauthorized")
            })
        var lines = QuietLines()
        if reconnects { lines.webSocketOptions.reconnection = .standard }
        let socket = agent.webSocket(lines) { try await $0.send(#"{"type":"connection_init"}"#) }
        var reader = socket.makeAsyncIterator()
        let failure = await #expect(throws: WebSocketError.self) { try await reader.next() }
        #expect(failure?.closeCode?.rawValue == 4401 && failure?.reason == "Unauthorized")
        #expect(connections.value == 1 && socket.closeCode?.rawValue == 4401)
    }

    @Test("messages that arrive while a connection is greeted wait for the reader, in their order")
    func earlyMessages() async throws {
        server.on(
            "/socket",
            .webSocket { socket in
                try socket.send(.text(#"{"type":"ping"}"#))
                _ = try socket.receive()
                try socket.send(.text(#"{"type":"connection_ack"}"#))
                _ = try socket.receive()
            })
        let gate = Gate()
        let socket = agent.webSocket(QuietLines()) {
            try await gate.wait()
            try await $0.send(#"{"type":"connection_init"}"#)
        }
        let opening = Task { try await socket.open() }
        try await gate.reached()
        gate.open()
        try await opening.value
        var reader = socket.makeAsyncIterator()
        #expect(try await reader.next() == #"{"type":"ping"}"#)
        #expect(try await reader.next() == #"{"type":"connection_ack"}"#)
        await socket.close()
    }

    @Test(
        "an app's close code that must not be sent, or a reason that is too long, doesn't reach the server as such",
        arguments: [
            (5000, ""), (1005, ""), (1006, "x"), (999, "x"), (4000, String(repeating: "x", count: 124)),
            (4000, String(repeating: "x", count: 122) + "\u{FC}"),
            (4000, String(repeating: "\u{1F600}", count: 40)),
        ] as [(UInt16, String)])
    func closeArguments(code: UInt16, reason: String) async throws {
        let frames = Log<TestFrame>()
        server.on(
            "/socket",
            .webSocket { socket in
                while let frame = try socket.receive() {
                    frames.add(frame)
                    if frame.opcode == 8 { return }
                }
            })
        let socket = agent.webSocket(QuietLines())
        try await socket.open()
        await socket.close(CloseCode(rawValue: code), reason: reason)
        try await server.waitUntilNoConnections()
        let frame = try #require(frames.all.last)
        let sent = frame.closeCode
        #expect(frame.content.count <= 125)
        #expect(sent == (code == 4000 ? 4000 : nil))
        if code == 4000 {
            let text = String(validating: frame.content.dropFirst(2), as: UTF8.self)
            #expect(text.map { !$0.isEmpty && reason.hasPrefix($0) } == true)
        }
    }

    @Test("a second close frame of a server is ignored, and the first one counts")
    func twoCloseFrames() async throws {
        server.on(
            "/socket",
            .webSocket { socket in
                let first = TestFrame.close(4008, "Publishing not allowed.").wireBytes()
                try socket.connection.send(first + TestFrame.close(1000, "again").wireBytes())
                _ = try socket.receive()
            })
        let socket = agent.webSocket(QuietLines())
        var reader = socket.makeAsyncIterator()
        let failure = await #expect(throws: WebSocketError.self) { try await reader.next() }
        #expect(failure?.closeCode?.rawValue == 4008 && failure?.reason == "Publishing not allowed.")
    }
}
