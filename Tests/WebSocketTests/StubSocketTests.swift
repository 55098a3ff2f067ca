import Errand
import ErrandEssentials
import ErrandTesting
import ErrandWebSocket
import Testing

private struct Lines: WebSocketRequest {
    typealias Incoming = String
    typealias Outgoing = String
    var path = "socket"
    var webSocketOptions = WebSocketOptions(subprotocols: ["notes"], pingInterval: nil)
}

@Suite("WebSockets of a stub", .endsInTime, .leakChecked) struct StubSocketTests {
    private let stub = StubTransport()
    private let agent: NetworkAgent

    init() { agent = NetworkAgent(baseURL: "https://example.com", transport: stub) }

    @Test("messages are sent both ways in memory, and the handshake is recorded")
    func echo() async throws {
        stub.on(
            "/socket",
            response: .webSocket(headers: ["Sec-WebSocket-Protocol": "notes"]) { socket in
                try await socket.send(.ping("there?"))
                try await socket.echo()
            })
        let socket = agent.webSocket(Lines())
        let texts = ["grüße", "", String(repeating: "long ", count: 100_000)]
        async let received = socket.prefix(texts.count).reduce(into: []) { $0.append($1) }
        for text in texts { try await socket.send(text) }
        #expect(try await received == texts)
        #expect(socket.subprotocol == "notes")
        #expect(stub.received.first?.headers["Sec-WebSocket-Version"] == "13")
        await socket.close()
    }

    @Test("the stub's close code, end without a close, and invalid frames give the same errors as a server's")
    func endings() async throws {
        stub.on(
            "/socket", response: .webSocket { try await $0.close(4001, "go") }, .webSocket { _ in },
            .webSocket { try await $0.send(TestFrame(opcode: 3)) })
        for code in [WebSocketError.Code.closed, nil, .protocolViolated] {
            let socket = agent.webSocket(Lines())
            do {
                for try await _ in socket {}
                Issue.record("an end without an error")
            } catch let error as WebSocketError { #expect(error.code == code) } catch let error as ErrandError {
                #expect(code == nil && error.code == .connectionLost)
            }
        }
    }

    @Test("a message in flight when the server closes the socket throws the server's close code")
    func cutMessage() async throws {
        let gate = Gate()
        stub.on(
            "/socket",
            response: .webSocket { socket in
                try await socket.send(.close(1009))
                try await gate.wait()
            })
        let socket = agent.webSocket(Lines(webSocketOptions: WebSocketOptions(pingInterval: nil, closeTimeout: .zero)))
        // More than the connection holds.
        let cut = await #expect(throws: WebSocketError.self) {
            try await socket.send(String(repeating: "x", count: 200_000))
        }
        #expect(cut?.code == .closed && cut?.closeCode == .messageTooBig)
        gate.open()
    }

    @Test("any other response rejects the handshake, and failures and redirects count as the handshake's")
    func refusals() async throws {
        stub.on("/socket", response: .text("no", status: 403), .failure(ErrandError(.cannotConnect, "down")))
        let refused = await #expect(throws: ErrandError.self) { try await agent.webSocket(Lines()).open() }
        #expect(try refused?.response?.status == 403 && refused?.response?.text() == "no")
        let failed = await #expect(throws: ErrandError.self) { try await agent.webSocket(Lines()).open() }
        #expect(failed?.code == .cannotConnect)
        stub.on("/moved", response: .webSocket { try await $0.close() })
        stub.on("/socket", response: .redirect(to: "wss://example.com/moved"))
        for try await _ in agent.webSocket(Lines()) {}
        #expect(stub.received.last?.url.path == "/moved")
    }

    @Test("a slow reader makes the stub pause, and the client's close ends the stub")
    func pressure() async throws {
        let (sent, ended) = (Counter(), Gate())
        stub.on(
            "/socket",
            response: .webSocket { socket in
                defer { ended.open() }
                while true {
                    try await socket.send(.data(Data(count: 100_000)))
                    sent.increment()
                }
            })
        let socket = agent.webSocket(Bytes())
        try await socket.open()
        // The socket's queue takes 10, the connection less than one more, and one waits to be delivered.
        try await eventually { sent.value >= 10 }
        for try await message in socket.prefix(20) { #expect(message.count == 100_000) }
        #expect(sent.value <= 40)
        socket.cancel()
        try await ended.wait()
    }

    private struct Bytes: WebSocketRequest {
        typealias Incoming = Data
        var path: String { "socket" }
        var webSocketOptions: WebSocketOptions { WebSocketOptions(maximumQueueBytes: 1_000_000, pingInterval: nil) }
    }

    @Test("an accessory that wants messages receives them in order, with the same byte limit as bodies")
    func observedMessages() async throws {
        stub.on("/socket", response: .webSocket { try await $0.echo() })
        func events(_ accessory: RecordingAccessory, _ observer: any Accessory) async throws -> [StreamMessage] {
            let socket = agent.webSocket(Lines(), options: CallOptions(accessories: [observer]))
            var received = socket.makeAsyncIterator()
            for text in ["grüße", ""] {
                try await socket.send(text)
                #expect(try await received.next() == text)
            }
            await socket.close()
            try await accessory.waitUntilQuiet()
            #expect(Set(accessory.records().filter { $0.name == "message" }.map(\.kind)).isSubset(of: [.stream]))
            return accessory.records().compactMap { record in
                if case .message(let message) = record.event { message } else { nil }
            }
        }
        for limit in [0, 4, 100] {
            let accessory = RecordingAccessory(maximumBodyBytes: limit, observesMessages: true)
            let copy = Data("grüße".utf8.prefix(limit))
            let expected = [
                StreamMessage(.sent, isText: true, copy, length: 7),
                StreamMessage(.received, isText: true, copy, length: 7),
                StreamMessage(.sent, isText: true), StreamMessage(.received, isText: true),
            ]
            #expect(try await events(accessory, WeakAccessory(accessory)) == expected, "\(limit)")
        }
        let other = RecordingAccessory(maximumBodyBytes: 100)
        #expect(try await events(other, other).isEmpty)
    }
}
