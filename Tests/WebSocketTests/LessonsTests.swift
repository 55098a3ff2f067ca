import Errand
import ErrandEssentials
import ErrandSystemTransport
import ErrandTesting
import Testing

@testable import ErrandWebSocket

/// Faults that users of other WebSocket clients have reported. Tests/Lessons.md has the reports.
@Suite("Bugs of other WebSocket libraries", .endsInTime, .leakChecked) struct SocketLessonsTests {
    private let server: TestServer
    private let agent: NetworkAgent

    init() throws {
        server = try TestServer()
        agent = NetworkAgent(baseURL: server.url, transport: .system)
    }

    private func serve(headers: HTTPHeaders = [:], _ body: @escaping @Sendable (TestWebSocket) throws -> Void) {
        server.on("/socket", .webSocket(headers: headers, body))
    }

    private func closed(_ socket: WebSocket<String, String>) async {
        for await state in socket.states { if case .closed = state { return } }
    }

    // MARK: Ends

    @Test(
        "messages that arrived before the connection broke are delivered, followed by the failure",
        arguments: [false, true])
    func lastMessages(isSending: Bool) async throws {
        let gate = Gate()
        serve { socket in
            for text in ["a", "b", "c"] { try socket.send(.text(text)) }
            try socket.connection.wait(for: gate)
        }
        let socket = agent.webSocket(QuietLines())
        try await socket.open()
        gate.open()
        if isSending {
            // Sooner or later, the system refuses the bytes.
            try await eventually { (try? await socket.send("x")) == nil }
        }
        await closed(socket)
        var reader = socket.makeAsyncIterator()
        for text in ["a", "b", "c"] { #expect(try await reader.next() == text) }
        let failure = await #expect(throws: ErrandError.self) { try await reader.next() }
        #expect(failure?.code == .connectionLost)
    }

    @Test(
        "a close frame counts even if the server doesn't wait for the client's",
        arguments: [1001, 1012, 4000] as [UInt16])
    func closeWithoutWaiting(code: UInt16) async throws {
        serve { socket in
            try socket.send(.text("last"))
            try socket.send(.close(code, "going"))
        }
        let socket = agent.webSocket(QuietLines())
        var reader = socket.makeAsyncIterator()
        #expect(try await reader.next() == "last")
        let failure = await #expect(throws: WebSocketError.self) { try await reader.next() }
        #expect(failure?.closeCode?.rawValue == code && failure?.reason == "going")
    }

    @Test("the server's close frame is answered with the same code, without the app's help")
    func closeReply() async throws {
        let replies = Log<UInt16?>()
        for code in [1000, 1001, nil] as [UInt16?] {
            serve { replies.add(try $0.close(code)?.closeCode) }
            let socket = agent.webSocket(QuietLines())
            try await socket.open()
            await closed(socket)
        }
        try await server.waitUntilNoConnections()
        #expect(replies.all == [1000, 1001, nil])
    }

    @Test("close() ends even if the server never answers, or keeps sending", arguments: [false, true])
    func deafServer(isSending: Bool) async throws {
        serve { socket in
            if !isSending { try socket.connection.stall() }
            while true { try socket.send(.text("more")) }
        }
        var lines = QuietLines()
        lines.webSocketOptions.closeTimeout = .milliseconds(20)
        let socket = agent.webSocket(lines)
        try await socket.open()
        await socket.close()
        guard case .closed = socket.state else { return _ = Issue.record("\(socket.state)") }
        try await server.waitUntilNoConnections()
    }

    @Test("close() ends even if messages wait for the reader, which can still read them")
    func unreadMessages() async throws {
        let (sent, stopped) = (Counter(), Gate())
        serve { socket in
            defer { stopped.open() }
            while true {
                try socket.send(.text("message \(sent.value)"))
                sent.increment()
            }
        }
        var lines = QuietLines()
        lines.webSocketOptions.maximumQueue = 4
        let socket = agent.webSocket(lines)
        try await socket.open()
        try await eventually { sent.value > 100 }
        await socket.close()
        var received: [String] = []
        for try await text in socket { received.append(text) }
        #expect(received == (0..<received.count).map { "message \($0)" } && received.count <= 5)
        try await stopped.wait()
    }

    @Test(
        "a close frame with a code that must not be sent is a violation",
        arguments: [0, 999, 1004, 1005, 1006, 1015, 1016, 2999, 5000, 65535])
    func reservedCodes(code: UInt16) throws {
        var reader = MessageReader(limit: 100)
        reader.push(TestFrame.close(code).wireBytes())
        do throws(WebSocketError) {
            _ = try reader.next()
            Issue.record("accepted")
        } catch { #expect(error.closeCode == .protocolError) }
    }

    // MARK: Connections

    @Test("tasks that open, read and send concurrently share one connection")
    func oneConnection() async throws {
        serve { try $0.echo() }
        let socket = agent.webSocket(QuietLines())
        async let first = socket.prefix(20).reduce(into: Set<String>()) { $0.insert($1) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<20 {
                group.addTask { try await socket.open() }
                group.addTask { try await socket.send("\(number)") }
            }
            try await group.waitForAll()
        }
        #expect(try await first.count == 20 && server.requestCount == 1)
        await socket.close()
    }

    @Test("many calls of reconnect() while a connection is being made open one connection")
    func manyReconnects() async throws {
        let gate = Gate()
        let greeting = TestResponse.webSocket { try $0.echo() }
        server.enqueue(greeting, greeting.waiting(for: gate), greeting)
        var lines = QuietLines()
        lines.webSocketOptions.reconnection = .standard
        let socket = agent.webSocket(lines)
        try await socket.open()
        socket.reconnect()
        try await gate.reached()
        for _ in 0..<20 { socket.reconnect() }
        gate.open()
        try await socket.send("after")
        var reader = socket.makeAsyncIterator()
        #expect(try await reader.next() == "after")
        #expect(server.requestCount == 2)
        await socket.close()
    }

    @Test(
        "a server that accepts and closes every connection is asked less and less often, regardless of its Retry-After",
        arguments: [[.close(1001)], [.close(1012, "restarting")], [.ping(), .close(1013)], []] as [[TestFrame]])
    func rejectingServer(frames: [TestFrame]) async throws {
        let (time, stub) = (ManualTimeSource(), StubTransport())
        stub.on("/socket", response: .webSocket { socket in for frame in frames { try await socket.send(frame) } })
        let agent = NetworkAgent(baseURL: "http://stub", transport: stub, time: time)
        var lines = QuietLines()
        let backoff = Backoff(base: .seconds(1), maximumDelay: .seconds(10), jitter: 0)
        lines.webSocketOptions.reconnection = ReconnectionPolicy(backoff: backoff)
        let socket = agent.webSocket(lines)
        let reading = Task { for try await _ in socket {} }
        for seconds in [1, 2, 4, 8, 10, 10] {
            try await eventually { time.nextWake == time.now.advanced(by: .seconds(seconds)) }
            time.advance(by: .seconds(seconds))
        }
        socket.cancel()
        _ = await reading.result
    }

    @Test("a connection that delivered a message, or lasted, resets the wait", arguments: [false, true])
    func goodConnection(lasts: Bool) async throws {
        let (time, stub, gate) = (ManualTimeSource(), StubTransport(), Gate())
        let bad = StubResponse.webSocket { try await $0.send(.close(1012)) }
        stub.on(
            "/socket",
            response: bad, bad,
            .webSocket { socket in
                if lasts { try await socket.send(.ping()) } else { try await socket.send(.text("good")) }
                try await gate.wait()
                try await socket.send(.close(1012))
            }, bad)
        let agent = NetworkAgent(baseURL: "http://stub", transport: stub, time: time)
        var lines = QuietLines()
        let backoff = Backoff(base: .seconds(1), maximumDelay: .seconds(10), jitter: 0)
        lines.webSocketOptions.reconnection = ReconnectionPolicy(backoff: backoff)
        let socket = agent.webSocket(lines)
        let reading = Task { for try await _ in socket {} }
        let waits = lasts ? [1, 2, 1, 2, 4] : [1, 2, 1, 1, 2]
        for (number, seconds) in waits.enumerated() {
            if number == 2 {
                try await gate.reached()
                try await eventually { if case .open = socket.state { true } else { false } }
                if lasts { time.advance(by: .seconds(100)) }
                gate.open()
            }
            try await eventually { time.nextWake == time.now.advanced(by: .seconds(seconds)) }
            time.advance(by: .seconds(seconds))
        }
        socket.cancel()
        _ = await reading.result
    }

    @Test("a refused handshake ends a socket, unless its status allows another attempt")
    func refusedHandshakes() async throws {
        let (time, stub) = (ManualTimeSource(), StubTransport())
        let agent = NetworkAgent(baseURL: "http://stub", transport: stub, time: time)
        var lines = QuietLines()
        lines.webSocketOptions.reconnection = ReconnectionPolicy(
            backoff: Backoff(base: .seconds(1), jitter: 0), statuses: [502, 503])
        stub.on("/socket", response: .status(401))
        let refused = await #expect(throws: ErrandError.self) { try await agent.webSocket(lines).open() }
        #expect(refused?.response?.status == 401 && stub.received.count == 1 && time.sleeperCount == 0)
        let again = StubResponse.webSocket { try await $0.close(1012) }
        stub.on(
            "/socket",
            response: again, .status(503).header("Retry-After", "7"), .status(502), .webSocket { try await $0.close() })
        let socket = agent.webSocket(lines)
        let reading = Task { for try await _ in socket {} }
        for seconds in [1, 7, 4] {
            try await eventually { time.nextWake == time.now.advanced(by: .seconds(seconds)) }
            time.advance(by: .seconds(seconds))
        }
        try await reading.value
        #expect(stub.received.count == 5)
    }

    @Test("Host includes a non-default port, and a URL without a path gets the root path")
    func target() async throws {
        server.on("/", .webSocket { try $0.close() })
        struct Root: WebSocketRequest {
            let url: String
            var path: String { url }
            var webSocketOptions: WebSocketOptions { WebSocketOptions(pingInterval: nil, closeTimeout: .zero) }
        }
        for try await _ in agent.webSocket(Root(url: server.url + "?room=1")) {}
        let request = try await server.nextRequest()
        #expect(request.target == "/?room=1")
        #expect(request.headers.values(of: .host) == ["127.0.0.1:\(server.port)"])
    }

    // MARK: Frames

    private static let agreement = DeflateAgreement(clientWindow: 15, clientKeepsWindow: true)

    private static func events(_ frames: [TestFrame], pieces: Int) throws -> [MessageReader.Event] {
        var reader = MessageReader(limit: 1 << 20, agreement)
        var events: [MessageReader.Event] = []
        var rest = frames.reduce(Data()) { $0 + $1.wireBytes() }[...]
        while !rest.isEmpty {
            reader.push(Data(rest.prefix(pieces)))
            rest = rest.dropFirst(pieces)
            while let event = try reader.next() { events.append(event) }
        }
        return events
    }

    @Test("a compressed message can end with an empty block in its own fragment", arguments: [1, 5, 1000])
    func emptyBlocks(pieces: Int) throws {
        let hello = Data([0xF2, 0x48, 0xCD, 0xC9, 0xC9, 0x07, 0x00, 0x00, 0x00, 0xFF, 0xFF])
        let world = Data([0x0A, 0xCF, 0x2F, 0xCA, 0x49, 0x01, 0x00, 0x00, 0x00, 0xFF, 0xFF])
        let frames = [hello, world].flatMap { content in
            [
                TestFrame(opcode: 1, content, isFinal: false, reserved: 4), .ping("between"),
                TestFrame(opcode: 0, Data(), isFinal: false), TestFrame(opcode: 0, Data([0x00])),
            ]
        }
        let messages = try Self.events(frames, pieces: pieces).filter { $0 != .ping(Data("between".utf8)) }
        #expect(messages == [.message(.text("Hello")), .message(.text("World"))])
    }

    @Test("only the first frame of a message has the compression bit")
    func compressionBit() throws {
        let first = TestFrame(opcode: 1, Data([0xF2, 0x48, 0xCD]), isFinal: false, reserved: 4)
        let frames = [
            [first, TestFrame(opcode: 0, Data([0xC9, 0xC9, 0x07, 0x00]), reserved: 4)],
            [TestFrame(opcode: 9, Data(), reserved: 4)], [TestFrame(opcode: 10, Data(), reserved: 4)],
            [TestFrame(opcode: 8, Data(), reserved: 4)],
        ]
        for frames in frames {
            let error = #expect(throws: WebSocketError.self) { try Self.events(frames, pieces: 1000) }
            #expect(error?.closeCode == .protocolError)
        }
        #expect(try Self.events([.text("plain"), .data(Data([0xF2]))], pieces: 1).count == 2)
    }

    @Test("pings, pongs and close frames are never compressed")
    func plainControl() async throws {
        let seen = Log<TestFrame>()
        serve(headers: ["Sec-WebSocket-Extensions": "permessage-deflate"]) { socket in
            try socket.send(.ping(String(repeating: "a", count: 125)))
            while let frame = try socket.receive() {
                seen.add(frame)
                if frame.opcode == 9 { try socket.send(.pong(frame.content)) }
                if frame.opcode == 8 { return try socket.send(.close()) }
            }
        }
        var lines = QuietLines()
        (lines.webSocketOptions.compression, lines.webSocketOptions.closeTimeout) = (.standard, .seconds(60))
        let socket = agent.webSocket(lines)
        try await socket.ping()
        try await socket.send(String(repeating: "text ", count: 100))
        await socket.close(.normalClosure, reason: String(repeating: "b", count: 100))
        #expect(Set(seen.all.map(\.opcode)) == [1, 8, 9, 10])
        for frame in seen.all { #expect(frame.reserved == (frame.opcode == 1 ? 4 : 0)) }
    }

    @Test("the server of a message that inflates beyond the limit learns why its socket ends, and other sockets stay")
    func inflatedTooLong() async throws {
        let codes = Log<UInt16?>()
        serve(headers: ["Sec-WebSocket-Extensions": "permessage-deflate"]) { socket in
            try socket.send(.text("first"))
            guard try socket.receive()?.opcode == 1 else { return }
            var deflater = MessageDeflater(15, keepsWindow: false)
            let zeros = Data(repeating: 0x30, count: 1 << 20)
            let bomb = deflater.deflate(zeros.span) ?? Data()
            try socket.send(TestFrame(opcode: 1, bomb, reserved: 4))
            while let frame = try socket.receive() {
                if frame.opcode == 8 { return codes.add(frame.closeCode) }
            }
        }
        var lines = QuietLines()
        (lines.webSocketOptions.compression, lines.webSocketOptions.maximumMessageBytes) = (.standard, 1 << 16)
        let (one, other) = (agent.webSocket(lines), agent.webSocket(lines))
        var (messages, others) = (one.makeAsyncIterator(), other.makeAsyncIterator())
        #expect(try await messages.next() == "first")
        #expect(try await others.next() == "first")
        try await one.send("more")
        let error = await #expect(throws: WebSocketError.self) { try await messages.next() }
        #expect(error?.code == .tooLarge && error?.closeCode == .messageTooBig)
        try await eventually { codes.all == [1009] }
        guard case .open = other.state else { return _ = Issue.record("\(other.state)") }
        other.cancel()
    }

    @Test("an unrequested pong is ignored")
    func unaskedPongs() async throws {
        let gate = Gate()
        serve { socket in
            for content in [Data(), Data([1]), Data(repeating: 0xFF, count: 8), Data(repeating: 7, count: 125)] {
                try socket.send(.pong(content))
            }
            try socket.connection.wait(for: gate)
            try socket.echo()
        }
        let time = ManualTimeSource()
        let clocked = NetworkAgent(baseURL: server.url, transport: .system, time: time)
        let socket = clocked.webSocket(QuietLines())
        try await socket.open()
        let pinging = Task { try await socket.ping() }
        try await gate.reached()
        time.advance(by: .seconds(5))
        gate.open()
        #expect(try await pinging.value <= .seconds(5))
        socket.cancel()
    }
}
