import Errand
import ErrandAuthentication
import ErrandEssentials
import ErrandTesting
import ErrandWebSocket
import Testing

/// Messages to and from one user's server, after another user has signed in.
@Suite("Users of a WebSocket", .endsInTime, .leakChecked) struct SocketUserTests {
    private let stub = StubTransport()
    private let seen = Log<String>()

    /// Starts a server that logs received messages, and restarts after the first connection's first message.
    private func serve(_ restart: Gate = Gate()) {
        stub.on(
            "/socket",
            response: .webSocket { [seen] socket in
                seen.add(try await socket.receive()?.text ?? "")
                try await restart.wait()
                try await socket.close(1012)
            },
            .webSocket { [seen] socket in
                while let frame = try await socket.receive(), frame.opcode == 1 { seen.add(frame.text) }
            })
    }

    private static func lines(_ wait: Duration = .seconds(3600)) -> QuietLines {
        let policy = ReconnectionPolicy(backoff: Backoff(base: wait, maximumDelay: wait), minimumDelay: wait)
        return QuietLines(
            webSocketOptions: WebSocketOptions(reconnection: policy, pingInterval: nil, closeTimeout: .zero))
    }

    private func socket(_ agent: NetworkAgent) -> WebSocket<String, String> {
        agent.webSocket(Self.lines()) { try await $0.send("greeting") }
    }

    private func agent(_ filters: any Filter...) -> NetworkAgent {
        NetworkAgent(baseURL: "https://example.com", transport: stub, filters: filters)
    }

    private func waitsForConnection(_ socket: WebSocket<String, String>) async throws {
        for await state in socket.states { if case .waiting = state { break } }
    }

    @Test(
        "greeting and waiting messages aren't sent with another user's credential, and their senders get the error",
        arguments: [false, true])
    func userChanged(isSignedOut: Bool) async throws {
        let (restart, session) = (Gate(), AuthenticationSession(BearerToken("ada")) { (_: BearerToken?) in nil })
        serve(restart)
        let socket = socket(agent(.authentication(session)))
        let reading = Task { for try await _ in socket {} }
        try await socket.open()
        restart.open()
        try await waitsForConnection(socket)
        let sending = Task { try await socket.send("private") }
        session.signOut()
        if !isSignedOut { session.signIn(BearerToken("bob")) }
        socket.reconnect()
        let error = await #expect(throws: AuthenticationError.self) { try await sending.value }
        #expect(error?.code == .signedOut)
        await #expect(throws: AuthenticationError.self) { try await reading.value }
        await #expect(throws: AuthenticationError.self) { try await socket.send("later") }
        #expect(seen.all == ["greeting"] && stub.received.map { $0.headers[.authorization] } == ["Bearer ada"])
        guard case .closed(let end as AuthenticationError) = socket.state else {
            return _ = Issue.record("\(socket.state)")
        }
        #expect(end.code == .signedOut)
    }

    @Test("if a filter adds the credential, messages aren't sent as another user, and the error has its own code")
    func filters() async throws {
        let (restart, keys) = (Gate(), Log<String>())
        keys.add("ada")
        serve(restart)
        let adding = ClosureFilter(.hop) { exchange, next in
            var exchange = exchange
            exchange.http.headers.set("X-Key", keys.all.last ?? "", sensitive: true)
            return try await next(exchange)
        }
        let socket = socket(agent(adding))
        try await socket.open()
        restart.open()
        try await waitsForConnection(socket)
        keys.add("bob")
        let sending = Task { try await socket.send("private") }
        socket.reconnect()
        let error = await #expect(throws: ErrandError.self) { try await sending.value }
        #expect(error?.code == .userChanged && seen.all == ["greeting"] && stub.received.count == 1)
    }

    @Test("after a refreshed token of the same user, the server is greeted again and waiting messages are sent")
    func refreshed() async throws {
        let (restart, session) = (Gate(), AuthenticationSession(BearerToken("ada.1")) { (_: BearerToken?) in nil })
        serve(restart)
        let socket = socket(agent(.authentication(session)))
        try await socket.open()
        restart.open()
        try await waitsForConnection(socket)
        session.renew(with: BearerToken("ada.2"))
        let sending = Task { try await socket.send("private") }
        socket.reconnect()
        try await sending.value
        try await seen.wait { $0.count == 3 }
        #expect(seen.all == ["greeting", "greeting", "private"])
        #expect(stub.received.map { $0.headers[.authorization] } == ["Bearer ada.1", "Bearer ada.2"])
        socket.cancel()
    }

    @Test("an open connection doesn't send or deliver another user's messages", arguments: [true, false])
    func open(sends: Bool) async throws {
        let (push, done) = (Gate(), Gate())
        stub.on(
            "/socket",
            response: .webSocket { [seen] socket in
                seen.add(try await socket.receive()?.text ?? "")
                try await push.wait()
                // The connection may be closed already.
                try? await socket.send(.text("for ada"))
                while let frame = (try? await socket.receive()) ?? nil { if frame.opcode == 1 { seen.add(frame.text) } }
                done.open()
            })
        let session = AuthenticationSession(BearerToken("ada"))
        let socket = socket(agent(.authentication(session)))
        try await socket.open()
        session.signIn(BearerToken("bob"))
        if sends {
            let error = await #expect(throws: AuthenticationError.self) { try await socket.send("of bob") }
            #expect(error?.code == .userChanged)
        }
        push.open()
        let error = await #expect(throws: AuthenticationError.self) {
            for try await text in socket { Issue.record("\(text) was received") }
        }
        #expect(error?.code == .userChanged)
        try await done.wait()
        #expect(seen.all == ["greeting"])
    }

    @Test("two sockets that share a pin belong to the first socket's user")
    func shared() async throws {
        serve()
        let (pin, session) = (UserPin(), AuthenticationSession(BearerToken("ada")))
        let (agent, options) = (agent(.authentication(session)), CallOptions().pinned(to: UserPin()))
        let first = agent.webSocket(Self.lines(), options: CallOptions().pinned(to: pin))
        try await first.open()
        session.signIn(BearerToken("bob"))
        let second = agent.webSocket(Self.lines(), options: CallOptions().pinned(to: pin))
        await #expect(throws: AuthenticationError.self) { try await second.open() }
        let third = agent.webSocket(Self.lines(), options: options)
        try await third.open()
        for socket in [first, second, third] { socket.cancel() }
    }
}
