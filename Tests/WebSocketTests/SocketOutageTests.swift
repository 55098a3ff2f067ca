import Errand
import ErrandEssentials
import ErrandSystemTransport
import ErrandTesting
import ErrandWebSocket
import Synchronization
import Testing

/// No message is lost without an error, and none counts as cancelled.
@Suite("Outages of a WebSocket", .endsInTime, .leakChecked) struct SocketOutageTests {
    private let stub = StubTransport()
    private let agent: NetworkAgent
    /// More than a connection holds.
    private let long = String(repeating: "x", count: 200_000)

    init() { agent = NetworkAgent(baseURL: "https://example.com", transport: stub) }

    private static func reconnecting(
        after wait: Duration = .milliseconds(1),
        whileDisconnected: WebSocketOptions.DisconnectedSendPolicy = .wait(maximumQueue: 100)
    ) -> QuietLines {
        let policy = ReconnectionPolicy(backoff: Backoff(base: wait, maximumDelay: wait), minimumDelay: wait)
        return QuietLines(
            webSocketOptions: WebSocketOptions(
                reconnection: policy, whileDisconnected: whileDisconnected, pingInterval: nil, closeTimeout: .zero))
    }

    /// Starts to send more than the connection has room for, and returns once the message is being sent.
    private func sending(
        _ socket: WebSocket<String, String>, _ accessory: RecordingAccessory
    ) async throws -> Task<any Error, any Error> {
        let task = Task { [long] in
            do { try await socket.send(long) } catch { return error }
            throw NoError()
        }
        try await eventually { accessory.records().contains { $0.name == "message" } }
        return task
    }

    private struct NoError: Error {}

    private func observer() -> RecordingAccessory { RecordingAccessory(observesMessages: true) }

    @Test("a message in flight when the connection fails throws the failure, and so does a later message")
    func failure() async throws {
        let gate = Gate()
        stub.on(
            "/socket",
            response: .webSocket { socket in
                try await socket.send(TestFrame(opcode: 3))
                try await gate.wait()
            })
        let socket = agent.webSocket(QuietLines())
        for _ in 0..<2 {
            let cut = await #expect(throws: WebSocketError.self) { try await socket.send(long) }
            #expect(cut?.code == .protocolViolated && cut?.closeCode == .protocolError)
        }
        gate.open()
    }

    @Test("a message in flight when the app reconnects throws connectionLost")
    func reconnection() async throws {
        let gate = Gate()
        stub.on("/socket", response: .webSocket { _ in try await gate.wait() }, .webSocket { try await $0.echo() })
        let accessory = observer()
        let options = CallOptions(accessories: [accessory])
        let socket = agent.webSocket(Self.reconnecting(after: .seconds(3600)), options: options)
        let sending = try await sending(socket, accessory)
        socket.reconnect()
        #expect(try await (sending.value as? ErrandError)?.code == .connectionLost)
        gate.open()
        try await socket.send("again")
        var received = socket.makeAsyncIterator()
        #expect(try await received.next() == "again")
        await socket.close()
    }

    @Test("a message in flight throws closed if the app closes the socket, and cancelled if it cancels it")
    func closing() async throws {
        let gate = Gate()
        stub.on("/socket", response: .webSocket { _ in try await gate.wait() })
        for isCancelled in [false, true] {
            let accessory = observer()
            let socket = agent.webSocket(QuietLines(), options: CallOptions(accessories: [accessory]))
            let sending = try await sending(socket, accessory)
            if isCancelled { socket.cancel() } else { await socket.close() }
            let error = try await sending.value
            #expect(error.isCancellation == isCancelled)
            #expect(((error as? WebSocketError)?.code == .closed) == !isCancelled)
        }
        gate.open()
    }

    @Test("a socket that is cancelled while it greets the server is closed, and reports that")
    func greeting() async throws {
        stub.on("/socket", response: .webSocket { try await $0.echo() })
        let known = Mutex<WebSocket<String, String>?>(nil)
        let socket = agent.webSocket(QuietLines()) { _ in known.withLock { $0 }?.cancel() }
        known.withLock { $0 = socket }
        await #expect(throws: ErrandError.self) { try await socket.open() }
        try await eventually { agent.activities.isEmpty }
        guard case .closed(let error?) = socket.state, error.isCancellation else { throw NoError() }
        known.withLock { $0 = nil }
    }

    @Test(
        "a message for a connection that the server closes is sent on the next connection, or refused",
        arguments: [false, true])
    func closedByServer(isRefused: Bool) async throws {
        let (closing, ended, seen) = (Gate(), Gate(), Log<String>())
        stub.on(
            "/socket",
            response: .webSocket { socket in
                try await socket.close(1012)
                try await closing.wait()
                try await ended.wait()
            },
            .webSocket { socket in
                seen.add(try await socket.receive()?.text ?? "")
                try await socket.close()
            })
        let rule: WebSocketOptions.DisconnectedSendPolicy = isRefused ? .refuse : .wait(maximumQueue: 1)
        var lines = Self.reconnecting(whileDisconnected: rule)
        lines.webSocketOptions.closeTimeout = .seconds(3600)
        let socket = agent.webSocket(lines)
        try await socket.open()
        // The close frames have crossed, and the connection is still open.
        try await closing.reached()
        closing.open()
        let sending = Task { try await socket.send("later") }
        if isRefused {
            let refused = await #expect(throws: WebSocketError.self) { try await sending.value }
            #expect(refused?.code == .notConnected)
        }
        ended.open()
        if isRefused {
            try await eventually { (try? await socket.send("later")) != nil }
        } else {
            try await sending.value
        }
        for try await _ in socket {}
        #expect(seen.all == ["later"])
    }

    @Test("the allowed number of messages can wait for a connection, in addition to messages waiting for it to open")
    func waiting() async throws {
        let (gate, seen) = (Gate(), Log<String>())
        stub.on(
            "/socket", response: .webSocket { _ in try await gate.wait() },
            .webSocket { socket in while let frame = try await socket.receive() { seen.add(frame.text) } })
        let socket = agent.webSocket(
            Self.reconnecting(after: .seconds(3600), whileDisconnected: .wait(maximumQueue: 3)))
        try await socket.open()
        gate.open()
        for await state in socket.states { if case .waiting = state { break } }
        let opening = (0..<5).map { _ in Task { try await socket.open() } }
        let refused = Counter()
        let sending = (0..<20).map { number in
            Task {
                do { try await socket.send("\(number)") } catch let error as WebSocketError {
                    #expect(error.code == .notConnected)
                    refused.increment()
                }
            }
        }
        try await eventually(within: .seconds(20)) { refused.value >= 17 }
        socket.reconnect()
        for task in opening + sending { try await task.value }
        // The server reads a message after its sender has returned.
        try await eventually { seen.count >= 3 }
        #expect(refused.value == 17 && seen.count == 3)
        socket.cancel()
    }

    @Test("reconnect() while a connection is being made opens the next one immediately if that connection fails")
    func connecting() async throws {
        let gate = Gate()
        stub.on(
            "/socket", response: .failure(ErrandError(.cannotConnect, "down")).waiting(for: gate),
            .webSocket { try await $0.echo() })
        let socket = agent.webSocket(Self.reconnecting(after: .seconds(3600)))
        let opening = Task { try await socket.open() }
        try await gate.reached()
        socket.reconnect()
        gate.open()
        try await opening.value
        await socket.close()
    }

    @Test("a ping that arrives while many messages wait is answered, even after its sender was cancelled")
    func pong() async throws {
        let (pinged, marked, seen) = (Gate(), Gate(), Log<TestFrame>())
        stub.on(
            "/socket",
            response: .webSocket { socket in
                try await pinged.wait()
                try await socket.send(.ping("there?"))
                try await socket.send(.text("mark"))
                try await marked.wait()
                while seen.count < 2, let frame = try await socket.receive() { seen.add(frame) }
                try await socket.close()
            })
        let accessory = observer()
        let socket = agent.webSocket(QuietLines(), options: CallOptions(accessories: [accessory]))
        let sending = try await sending(socket, accessory)
        sending.cancel()
        #expect(try await sending.value.isCancellation)
        pinged.open()
        for try await text in socket {
            #expect(text == "mark")
            marked.open()
        }
        #expect(seen.all.map(\.opcode) == [1, 10] && seen.all.last?.text == "there?")
    }

    @Test(
        "a server that is receiving a long message isn't silent, and a server that receives no bytes is",
        arguments: [false, true])
    func upload(isStuck: Bool) async throws {
        let size = 64 << 20
        let (first, second) = (Gate(), Gate())
        let server = try TestServer()
        server.on(
            "/socket",
            .webSocket { socket in
                // The length of a masked frame with this much content.
                var missing = size + 14
                func read(_ count: Int) throws {
                    let end = missing - count
                    while missing > end, let bytes = try socket.connection.receive(upTo: missing - end) {
                        missing -= bytes.count
                    }
                }
                try socket.connection.wait(for: first)
                try read(size / 2)
                try socket.connection.wait(for: second)
                try read(missing)
                try socket.close()
            })
        let time = ManualTimeSource()
        let agent = NetworkAgent(baseURL: server.url, transport: .system, time: time)
        let accessory = observer()
        let lines = QuietLines(
            webSocketOptions: WebSocketOptions(pingInterval: .seconds(20), pongTimeout: .seconds(10)))
        let socket = agent.webSocket(lines, options: CallOptions(accessories: [accessory]))
        try await socket.open()
        let start = time.now
        func sleeps(until seconds: Int) async throws {
            let instant = start.advanced(by: .seconds(seconds))
            try await eventually(within: .seconds(60)) { time.nextWake == instant }
        }
        try await sleeps(until: 20)
        let text = String(repeating: "x", count: size)
        let sending = Task { try await socket.send(text) }
        try await eventually { accessory.records().contains { $0.name == "message" } }
        time.advance(by: .seconds(20))
        try await sleeps(until: 30)
        if isStuck {
            let ended = Gate()
            let failing = Task {
                let error = await #expect(throws: WebSocketError.self) { try await sending.value }
                #expect(error?.code == .timedOut)
                ended.open()
            }
            // The system may still have room for a part of the message.
            try await eventually {
                time.advance(by: .seconds(10))
                return ended.isOpen
            }
            await failing.value
        } else {
            first.open()
            try await second.reached()
            time.advance(by: .seconds(10))
            try await sleeps(until: 40)
            second.open()
            try await sending.value
            for try await _ in socket {}
        }
    }

    @Test("an app may reconnect directly when it learns that a connection has ended, again and again")
    func reconnectingAtOnce() async throws {
        let connections = Counter()
        stub.on("/socket") { _ in
            let number = connections.increment()
            return .webSocket { socket in
                try await socket.send(.text("\(number)"))
                if number < 20 { return }
                try await socket.echo()
            }
        }
        let socket = agent.webSocket(Self.reconnecting(after: .seconds(3600)))
        let watching = Task {
            for await state in socket.states {
                if case .waiting = state { socket.reconnect() }
            }
        }
        var seen: [String] = []
        for try await text in socket {
            seen.append(text)
            if text == "20" { break }
        }
        #expect(seen == (1...20).map { "\($0)" } && connections.value == 20)
        socket.cancel()
        await watching.value
    }
}
