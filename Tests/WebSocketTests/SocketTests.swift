import Errand
import ErrandEssentials
import ErrandSystemTransport
import ErrandTesting
import ErrandWebSocket
import Synchronization
import Testing

#if os(Linux)
import ErrandCurlTransport
#endif

nonisolated private struct Note: Codable, Sendable, Equatable { var text: String }

private struct Notes: WebSocketRequest {
    typealias Incoming = Note
    typealias Outgoing = Note
    var path = "socket"
    var webSocketOptions = WebSocketOptions(pingInterval: nil)
}

private struct Lines: WebSocketRequest {
    typealias Incoming = String
    typealias Outgoing = String
    var path = "socket"
    var webSocketOptions = WebSocketOptions(pingInterval: nil)
}

@Suite("WebSockets", .endsInTime, .leakChecked) struct SocketTests {
    private let server: TestServer
    private let agent: NetworkAgent

    init() throws {
        server = try TestServer()
        agent = NetworkAgent(baseURL: server.url, transport: .system)
    }

    private func serve(_ body: @escaping @Sendable (TestWebSocket) throws -> Void) {
        server.on("/socket", .webSocket(body))
    }

    private func error<Value>(of body: () async throws -> Value) async throws -> any Error {
        do { _ = try await body() } catch { return error }
        throw NoError()
    }

    private struct NoError: Error {}

    @Test("values are sent as JSON text and received as values, until the server closes the socket")
    func echo() async throws {
        serve { socket in
            let frame = try socket.receive()
            #expect(frame?.opcode == 1 && frame?.mask != nil)
            try socket.send(.text(#"{"text":"one"}"#))
            try socket.send(frame ?? .ping())
            try socket.close()
        }
        let socket = agent.webSocket(Notes())
        try await socket.send(Note(text: "grüße"))
        var notes: [Note] = []
        for try await note in socket { notes.append(note) }
        #expect(notes == [Note(text: "one"), Note(text: "grüße")])
        guard case .closed(nil) = socket.state else { throw NoError() }
        try await server.waitUntilNoConnections()
    }

    @Test("the handshake is a request with the agent's base URL, headers, authorization and cookies")
    func handshake() async throws {
        serve { try $0.close() }
        agent.configure {
            $0.headers["X-App"] = "1"
            $0.authorization = .bearer("abc")
        }
        let accessory = RecordingAccessory()
        let options = CallOptions(accessories: [accessory])
        let socket = agent.webSocket(Lines(), options: options)
        for try await _ in socket {}
        let request = try await server.nextRequest()
        #expect(request.headers["X-App"] == "1" && request.headers["Authorization"] == "Bearer abc")
        #expect(request.headers["Upgrade"] == "websocket" && request.headers["Sec-WebSocket-Version"] == "13")
        #expect(socket.response?.status == 101)
        #expect("\(agent.explain(Lines()))".contains("opening handshake"))
    }

    @Test("a refused handshake throws the status with its body, and redirects and retries work")
    func refusal() async throws {
        server.on("/socket", .text("no", status: 403))
        let refused = agent.webSocket(Lines())
        let failure = try await error { try await refused.send("a") } as? ErrandError
        #expect(failure?.code == .unacceptableStatus && failure?.response?.status == 403)
        #expect(try failure?.response?.text() == "no")
        server.on("/moved", .webSocket { try $0.close(1000) })
        server.on("/socket", .redirect(to: server.url("/moved").replacing("http:", with: "ws:")))
        for try await _ in agent.webSocket(Lines()) {}
        server.on("/socket", .text("ok"))
        let plain = try await error { try await agent.webSocket(Lines()).open() } as? WebSocketError
        #expect(plain?.code == .handshakeFailed && plain?.response?.status == 200)
        #expect(
            plain?.description
                == "handshakeFailed: a filter responded to the handshake itself, so the socket isn't open: 200 \(server.url("/socket"))"
        )
        #expect(plain?.failureSentence == .unusableResponse)
        #expect(try await error { try await agent.send(Lines()) } is WebSocketError)
        try await server.waitUntilNoConnections()
    }

    @Test("refusals and redirects don't wait for the end of their body")
    func endlessRefusal() async throws {
        let gate = Gate()
        server.on("/socket", TestResponse.text("no", status: 403).waiting(for: gate, afterBodyBytes: 1))
        let failure = try await error { try await agent.webSocket(Lines()).open() } as? ErrandError
        #expect(failure?.code == .unacceptableStatus && failure?.response?.data == Data("n".utf8))
        server.on("/moved", .webSocket { try $0.close(1000) })
        let moved = TestResponse.text("moved", status: 302).header("Location", "/moved")
        server.on("/socket", moved.waiting(for: gate, afterBodyBytes: 1))
        for try await _ in agent.webSocket(Lines()) {}
        gate.open()
    }

    @Test("the status 101 isn't a success of a request that asks for no other protocol")
    func unasked() async throws {
        let stubbed = NetworkAgent(
            baseURL: "http://example.com", transport: .stub(.status(101, headers: ["Upgrade": "websocket"])))
        let failure = try await error { try await stubbed.send(Call<Void>(.get, "a")) } as? ErrandError
        #expect(failure?.code == .unacceptableStatus)
        let bare = NetworkAgent(baseURL: "http://example.com", transport: Bare())
        let unavailable = try await error { try await bare.webSocket(Lines()).open() } as? ErrandError
        #expect(unavailable?.code == .transportUnavailable)
    }

    private struct Bare: Transport {
        func send(_ request: HTTPRequest, options: TransportOptions) async throws -> HTTPResponse {
            throw ErrandError(.invalidRequest, "only sockets are expected")
        }
    }

    @Test("a server that responds with a wrong key is refused")
    func wrongKey() async throws {
        server.on("/socket", .webSocket { try $0.echo() }.header("Sec-WebSocket-Accept", "x"))
        let failure = try await error { try await agent.webSocket(Lines()).open() } as? WebSocketError
        #expect(failure?.code == .handshakeFailed)
        try await server.waitUntilNoConnections()
    }

    #if os(Linux)
    @Test("an HTTP proxy is used with a tunnel, whose head has only the proxy's credentials")
    func tunnel() async throws {
        let heads = Log<String>()
        let proxy = try RawServer { peer in
            guard let tunnel = peer.readHead() else { return }
            peer.send("HTTP/1.1 200 Connected\r\n\r\n")
            guard let head = peer.readHead() else { return }
            heads.add(tunnel)
            heads.add(head)
            let key = head.firstMatch(of: /Sec-WebSocket-Key: (\S+)/)?.1 ?? ""
            peer.send("HTTP/1.1 101 \r\nUpgrade: websocket\r\nConnection: Upgrade\r\n")
            peer.send("Sec-WebSocket-Accept: \(TestWebSocket.accept(String(key)))\r\n\r\n")
            peer.send(Array(TestFrame.text("through").wireBytes() + TestFrame.close().wireBytes()))
            _ = peer.drain()
        }
        var configuration = CurlConfiguration()
        configuration.proxy = .url("http://user:secret@127.0.0.1:\(proxy.port)")
        let agent = NetworkAgent(baseURL: "http://example.invalid", transport: .curl(configuration))
        agent.configure { $0.authorization = .bearer("abc") }
        var received: [String] = []
        for try await text in agent.webSocket(Lines(webSocketOptions: WebSocketOptions(closeTimeout: .zero))) {
            received.append(text)
        }
        #expect(received == ["through"])
        #expect(heads.all.first?.hasPrefix("CONNECT example.invalid:80 HTTP/1.1\r\n") == true)
        #expect(heads.all.first?.contains("\r\nHost: example.invalid:80\r\n") == true)
        #expect(heads.all.first?.contains("Proxy-Authorization: Basic ") == true)
        #expect(heads.all.first?.contains("Bearer") == false)
        #expect(heads.all.last?.hasPrefix("GET /socket HTTP/1.1\r\nHost: example.invalid\r\n") == true)
        #expect(heads.all.last?.contains("Bearer abc") == true && heads.all.last?.contains("Proxy-") == false)
    }
    #endif

    @Test("a client's close waits for the server's, and later messages throw")
    func closing() async throws {
        let seen = Log<UInt16?>()
        serve { socket in
            let frame = try socket.receive()
            seen.add(frame?.closeCode)
            try socket.send(.text("late"))
            try socket.send(.close(frame?.closeCode))
        }
        let socket = agent.webSocket(Lines())
        try await socket.open()
        await socket.close(.goingAway, reason: "bye")
        #expect(seen.all == [1001])
        #expect((try await error { try await socket.send("x") } as? WebSocketError)?.code == .closed)
        var received = 0
        for try await _ in socket { received += 1 }
        #expect(received == 0)
        try await server.waitUntilNoConnections()
    }

    @Test("a server's close code for a failure is thrown with the reason")
    func closeCodes() async throws {
        serve { try $0.close(4001, "go") }
        let socket = agent.webSocket(Lines())
        let failure = try await error { for try await _ in socket {} } as? WebSocketError
        #expect(failure?.code == .closed && failure?.closeCode?.rawValue == 4001 && failure?.reason == "go")
        #expect(failure?.description.contains("go") == false)
    }

    @Test("an end of the connection without a close frame is connectionLost, at every byte")
    func cuts() async throws {
        let frames = TestFrame.text("hello").wireBytes() + TestFrame.text("wörld").wireBytes()
        for count in 0..<frames.count {
            serve { try $0.connection.send(Data(frames.prefix(count))) }
            let socket = agent.webSocket(Lines())
            let failure = try await error { for try await _ in socket {} } as? ErrandError
            #expect(failure?.code == .connectionLost, "after \(count) bytes")
        }
    }

    @Test("invalid frames end the socket, and the server learns why")
    func violations() async throws {
        let seen = Log<UInt16?>()
        let cases: [(Data, UInt16)] = [
            (Data([0x83, 0x00]), 1002), (Data([0x81, 0x01, 0xFF]), 1007),
            (TestFrame.data(Data(count: 2000)).wireBytes(), 1009),
        ]
        for (bytes, code) in cases {
            serve { socket in
                try socket.connection.send(bytes)
                seen.add(try socket.receive()?.closeCode)
            }
            let socket = agent.webSocket(Lines(webSocketOptions: WebSocketOptions(maximumMessageBytes: 1000)))
            #expect((try await error { for try await _ in socket {} } as? WebSocketError)?.closeCode?.rawValue == code)
        }
        try await server.waitUntilNoConnections()
        #expect(seen.all == cases.map(\.1))
    }

    @Test("pings are answered, and a server that doesn't answer a ping is disconnected")
    func pings() async throws {
        serve { socket in
            try socket.send(.ping("are you there"))
            #expect(try socket.receive().map { [$0.opcode: $0.text] } == [10: "are you there"])
            try socket.close()
        }
        for try await _ in agent.webSocket(Lines()) {}
        let time = ManualTimeSource()
        let clocked = NetworkAgent(baseURL: server.url, transport: .system, time: time)
        let pinged = Gate()
        serve { socket in
            #expect(try socket.receive()?.opcode == 9)
            try socket.connection.wait(for: pinged)
            try socket.connection.stall()
        }
        let options = WebSocketOptions(pingInterval: .seconds(20), pongTimeout: .seconds(10))
        let socket = clocked.webSocket(Lines(webSocketOptions: options))
        try await socket.open()
        let reading = Task { try await error { for try await _ in socket {} } }
        try await time.waitForSleepers()
        time.advance(by: .seconds(20))
        try await pinged.reached()
        pinged.open()
        try await time.waitForSleepers()
        time.advance(by: .seconds(10))
        #expect((try await reading.value as? WebSocketError)?.code == .timedOut)
    }

    @Test("a message that cannot be decoded throws, and the next one is read")
    func decoding() async throws {
        serve { socket in
            try socket.send(.text("nonsense"))
            try socket.send(.text(#"{"text":"good"}"#))
            try socket.close()
        }
        let socket = agent.webSocket(Notes())
        var iterator = socket.makeAsyncIterator()
        let failure = await #expect(throws: WebSocketError.self) { try await iterator.next() }
        #expect(failure?.code == .decodingFailed && failure?.underlying is DecodingError)
        #expect(try await iterator.next() == Note(text: "good"))
        #expect(try await iterator.next() == nil)
        #expect((try await error { for try await _ in socket {} } as? WebSocketError)?.code == .alreadyRead)
    }

    @Test("messages of many concurrent senders are sent as a whole, even if deflated", arguments: [false, true])
    func senders(isDeflated: Bool) async throws {
        let headers: HTTPHeaders = isDeflated ? ["Sec-WebSocket-Extensions": "permessage-deflate"] : [:]
        server.on("/socket", .webSocket(headers: headers) { try $0.echo() })
        let compression: WebSocketCompression = isDeflated ? .standard : .off
        let socket = agent.webSocket(
            Lines(webSocketOptions: WebSocketOptions(compression: compression, pingInterval: nil)))
        let sent = (0..<200).map { String(repeating: "\($0) ", count: $0 * 7) }
        async let received = socket.prefix(sent.count).reduce(into: Set<String>()) { $0.insert($1) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for text in sent { group.addTask { try await socket.send(text) } }
            try await group.waitForAll()
        }
        #expect(try await received == Set(sent))
        await socket.close()
    }

    @Test("unread messages make the server pause, and all arrive in the end")
    func backpressure() async throws {
        let (all, size) = (400, 100_000)
        serve { socket in
            for number in 0..<all { try socket.send(.data(Data(repeating: UInt8(number & 0xFF), count: size))) }
            try socket.close()
        }
        let socket = agent.webSocket(Plain())
        try await socket.open()
        var last: Int64 = -1
        while server.sentBytes != last {
            last = server.sentBytes
            try await Task.sleep(for: .milliseconds(200))
        }
        #expect(last < Int64(all * size / 2))
        var count = 0
        for try await message in socket {
            #expect(message.bytes.first == UInt8(count & 0xFF))
            count += 1
        }
        #expect(count == all)
    }

    private struct Plain: WebSocketRequest {
        var path: String { "socket" }
        var webSocketOptions: WebSocketOptions { WebSocketOptions(pingInterval: nil) }
    }

    @Test("cancelling the socket or its agent's activities, or releasing it, ends the connection")
    func endings() async throws {
        serve { try $0.echo() }
        for variant in 0..<4 {
            var socket: WebSocket<String, String>? = agent.webSocket(Lines())
            try await socket?.send("a")
            let states = try #require(socket).states
            switch variant {
            case 0: socket?.cancel()
            case 1: agent.cancelAll()
            case 2: socket = nil
            default:
                let reading = Task { [socket] in try await error { for try await _ in try #require(socket) {} } }
                socket?.cancel()
                #expect(try await reading.value.isCancellation)
            }
            var last = WebSocketState.idle
            for await state in states { last = state }
            guard case .closed(let failure?) = last, failure.isCancellation else { throw NoError() }
            try await server.waitUntilNoConnections()
        }
    }

    #if os(Linux)
    @Test("a socket that is cancelled or released after any byte from the server ends")
    func endingsAtEachByte() async throws {
        let frames =
            TestFrame.ping("p").wireBytes() + TestFrame.text("hello").wireBytes() + TestFrame.close().wireBytes()
        let (sent, ended) = (Log<Int>(), Log<Int>())
        let total = Mutex(Int.max)
        let raw = try RawServer { peer in
            let count = sent.count
            guard let head = peer.readHead() else { return }
            let key = head.firstMatch(of: /Sec-WebSocket-Key: (\S+)/)?.1 ?? ""
            let fields = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
            let bytes = Array("HTTP/1.1 101 \r\n\(fields)\(TestWebSocket.accept(String(key)))\r\n\r\n".utf8) + frames
            total.withLock { $0 = bytes.count }
            peer.send(Array(bytes.prefix(count)))
            sent.add(count)
            _ = peer.drain()
            ended.add(count)
        }
        let agent = NetworkAgent(baseURL: raw.url(), transport: .system)
        var count = 0
        // The last byte completes the close frame, which ends the socket.
        while count < total.withLock({ $0 }) {
            var socket: WebSocket<String, String>? = agent.webSocket(Lines())
            let reading = Task { [socket] in try await error { for try await _ in try #require(socket) {} } }
            try await sent.wait { [count] in $0.count > count }
            switch count % 3 {
            case 0: socket?.cancel()
            case 1: agent.cancelAll()
            default: reading.cancel()
            }
            #expect(try await reading.value.isCancellation, "behind \(count) bytes")
            socket = nil
            try await ended.wait { [count] in $0.count > count }
            count += 1
        }
        #expect(count > 100)
    }
    #endif

    @Test("cancelling a reader or a sender only ends its own wait")
    func cancelledTasks() async throws {
        serve { try $0.echo() }
        let socket = agent.webSocket(Lines())
        try await socket.open()
        let reading = Task {
            var iterator = socket.makeAsyncIterator()
            let first = try? await iterator.next()
            try await socket.send("after")
            return (first, try await iterator.next())
        }
        await Task.yield()
        reading.cancel()
        let result = try? await reading.value
        #expect(result == nil || result?.0 == nil)
        await socket.close()
    }

    @Test("a lost connection is replaced and greeted first, and waiting messages follow")
    func reconnecting() async throws {
        let count = Atomic(0)
        let seen = Log<String>()
        serve { socket in
            let number = count.add(1, ordering: .relaxed).newValue
            while let frame = try socket.receive() {
                if frame.opcode == 8 { return try socket.send(frame) }
                seen.add("\(number): \(frame.text)")
                if frame.text == "drop" { try socket.connection.reset() }
                if frame.text == "last" { try socket.close() }
            }
        }
        let reconnection = ReconnectionPolicy(backoff: Backoff(base: .milliseconds(1)), minimumDelay: .milliseconds(1))
        let options = WebSocketOptions(reconnection: reconnection, pingInterval: nil)
        let socket = agent.webSocket(Lines(webSocketOptions: options)) { sender in
            try await sender.send(sender.isFirst ? "hello" : "again")
        }
        let states = socket.states
        try await socket.send("drop")
        for await state in states { if case .connecting(attempt: 2) = state { break } }
        try await socket.send("last")
        for try await _ in socket {}
        #expect(seen.all == ["1: hello", "1: drop", "2: again", "2: last"])
    }

    @Test("a socket that refuses messages while disconnected throws at once, and reconnect() ends the wait")
    func away() async throws {
        serve { socket in
            if try socket.receive()?.text == "drop" { try socket.connection.reset() }
            try socket.close()
        }
        let reconnection = ReconnectionPolicy(backoff: Backoff(base: .seconds(3600), maximumDelay: .seconds(3600)))
        let options = WebSocketOptions(reconnection: reconnection, whileDisconnected: .refuse, pingInterval: nil)
        let socket = agent.webSocket(Lines(webSocketOptions: options))
        try await socket.send("drop")
        for await state in socket.states { if case .waiting = state { break } }
        #expect((try await error { try await socket.send("x") } as? WebSocketError)?.code == .notConnected)
        socket.reconnect()
        try await eventually { if case .open = socket.state { true } else { false } }
        try await socket.send("bye")
        for try await _ in socket {}
    }
}
