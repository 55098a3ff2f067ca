import Errand
import ErrandEssentials
import ErrandTesting
import ErrandWebSocket
import Testing

@Suite("Controls of a WebSocket", .endsInTime, .leakChecked) struct SocketControlTests {
    private let stub = StubTransport()
    private let time = ManualTimeSource()
    private let agent: NetworkAgent

    init() { agent = NetworkAgent(baseURL: "https://example.com", transport: stub, time: time) }

    @Test("a ping returns the time until its own pong or a later one")
    func ping() async throws {
        let (pinged, gate) = (Log<TestFrame>(), Gate())
        stub.on(
            "/socket",
            response: .webSocket { socket in
                for _ in 0..<2 { if let frame = try await socket.receive() { pinged.add(frame) } }
                // None of these answers a ping.
                for content in [Data(), Data(count: 8), Data(repeating: 0xFF, count: 8)] {
                    try await socket.send(.pong(content))
                }
                try await socket.send(.text("mark"))
                try await gate.wait()
                try await socket.send(.pong(pinged.all[1].content))
                try await socket.echo()
            })
        let socket = agent.webSocket(QuietLines())
        async let first = socket.ping()
        try await pinged.wait { $0.count == 1 }
        async let second = socket.ping()
        try await pinged.wait { $0.count == 2 }
        #expect(pinged.all.allSatisfy { $0.opcode == 9 && $0.content.count == 8 })
        var messages = socket.makeAsyncIterator()
        #expect(try await messages.next() == "mark")
        time.advance(by: .seconds(3))
        gate.open()
        #expect(try await (first, second) == (.seconds(3), .seconds(3)))
        #expect(try await socket.ping() == .zero)
        await socket.close()
    }

    @Test(
        "a ping without a pong throws timedOut and keeps the socket open, and a lost connection throws its own error"
    )
    func silentPing() async throws {
        let gate = Gate()
        stub.on(
            "/socket",
            response: .webSocket { socket in
                _ = try await socket.receive()
                try await socket.send(.text("still here"))
                _ = try await socket.receive()
                try await socket.send(.close(4001))
                try await gate.wait()
            })
        let socket = agent.webSocket(
            QuietLines(webSocketOptions: WebSocketOptions(pingInterval: nil, closeTimeout: .seconds(3600))))
        let silent = Task { try await socket.ping() }
        var messages = socket.makeAsyncIterator()
        #expect(try await messages.next() == "still here")
        try await time.waitForSleepers()
        time.advance(by: .seconds(20))
        let late = await #expect(throws: WebSocketError.self) { try await silent.value }
        #expect(late?.code == .timedOut)
        let ended = await #expect(throws: WebSocketError.self) { try await socket.ping() }
        #expect(ended?.code == .closed && ended?.closeCode?.rawValue == 4001)
        gate.open()
    }

    @Test("the server's close code and reason can be read, even after a normal closure")
    func closeCodes() async throws {
        stub.on(
            "/socket", response: .webSocket { try await $0.close(1000, "see you") },
            .webSocket { try await $0.close(nil) }, .webSocket { _ in })
        let expected: [(CloseCode?, String)] = [(.normalClosure, "see you"), (.noStatusReceived, ""), (nil, "")]
        for (code, reason) in expected {
            let socket = agent.webSocket(QuietLines())
            #expect(socket.closeCode == nil)
            do { for try await _ in socket {} } catch { #expect(code == nil) }
            #expect(socket.closeCode == code && socket.closeReason == reason)
        }
    }

    @Test("a reader's wait ends with timedOut, without losing messages")
    func readingInTime() async throws {
        let (started, gate) = (Gate(), Gate())
        stub.on(
            "/socket",
            response: .webSocket { socket in
                try await socket.send(.text("first"))
                try await gate.wait()
                try await socket.send(.text("second"))
                try await socket.close()
            })
        let socket = agent.webSocket(QuietLines())
        // From here on, the socket uses the agent's clock.
        try await socket.open()
        let reading = Task {
            var messages = socket.makeAsyncIterator()
            let first = try await messages.next(within: .seconds(5))
            #expect(first == "first")
            started.open()
            let late = await #expect(throws: WebSocketError.self) { try await messages.next(within: .seconds(5)) }
            #expect(late?.code == .timedOut)
            gate.open()
            let rest = [try await messages.next(), try await messages.next()]
            #expect(rest == ["second", nil])
        }
        try await started.wait()
        // The sleeper of the first wait may still exist.
        try await eventually {
            time.advance(by: .seconds(5))
            return gate.isOpen
        }
        try await reading.value
    }

    @Test("a message marked as uncompressed is sent uncompressed, between compressed messages")
    func uncompressed() async throws {
        let seen = Log<TestFrame>()
        stub.on(
            "/socket",
            response: .webSocket(headers: ["Sec-WebSocket-Extensions": "permessage-deflate"]) { socket in
                while let frame = try await socket.receive(), frame.opcode != 8 {
                    seen.add(frame)
                    try await socket.send(frame)
                }
            })
        let socket = agent.webSocket(
            QuietLines(webSocketOptions: WebSocketOptions(compression: .standard, pingInterval: nil)))
        let text = String(repeating: "secret ", count: 100)
        var messages = socket.makeAsyncIterator()
        for compressed in [true, false, true] {
            try await socket.send(text, compressed: compressed)
            #expect(try await messages.next() == text)
        }
        #expect(seen.all.map(\.reserved) == [4, 0, 4] && seen.all[1].text == text)
        await socket.close()
    }
}
