import Errand
import ErrandAuthentication
import ErrandCache
import ErrandCoalescing
import ErrandCookies
import ErrandEssentials
import ErrandLoadingIndicatorLog
import ErrandRetry
import ErrandTesting
import ErrandWebSocket
import Testing

private struct Lines: WebSocketRequest {
    typealias Incoming = String
    typealias Outgoing = String
    var path = "socket"
    var webSocketOptions = WebSocketOptions(pingInterval: nil)
}

/// The handshake passes through the agent's filters and accessories.
@Suite("WebSockets with filters and accessories", .endsInTime, .leakChecked) struct SocketFilterTests {
    private static func echoes(_ socket: WebSocket<String, String>) async throws -> Bool {
        try await socket.send("x")
        var messages = socket.makeAsyncIterator()
        return try await messages.next() == "x"
    }

    private static func agent(
        _ stub: StubTransport, filters: [any Filter] = [], accessories: [any Accessory] = []
    ) -> NetworkAgent {
        NetworkAgent(baseURL: "https://example.com", transport: stub, filters: filters, accessories: accessories)
    }

    @Test("a 401 renews the credential once for all sockets, and their handshakes are sent again")
    func authentication() async throws {
        let (gate, renewals) = (Gate(), Counter())
        let stub = StubTransport { request in
            guard request.headers[.authorization] == "Bearer new" else { return .status(401).waiting(for: gate) }
            return .webSocket { try await $0.echo() }
        }
        let session = AuthenticationSession(BearerToken("old")) { _ in
            renewals.increment()
            return BearerToken("new")
        }
        let agent = Self.agent(stub, filters: [.authentication(session)])
        let sockets = (0..<5).map { _ in agent.webSocket(Lines()) }
        let opening = sockets.map { socket in Task { try await socket.open() } }
        try await gate.reached(by: 5)
        gate.open()
        for task in opening { try await task.value }
        for socket in sockets {
            #expect(try await Self.echoes(socket))
            await socket.close()
        }
        #expect(renewals.value == 1 && stub.received.count == 10)
        // Each handshake has its own key, including the second handshake of a socket.
        #expect(Set(stub.received.map { $0.headers["Sec-WebSocket-Key"] }).count == 10)
    }

    @Test("a socket on an agent with a cache or coalescing has no problems in explain")
    func unsuspected() {
        let agent = Self.agent(StubTransport(), filters: [.cache(MemoryStore()), .coalescing])
        #expect(agent.explain(Lines()).problems == [])
    }

    @Test("a cookie from a handshake's response is sent with the next handshake, and with requests")
    func cookies() async throws {
        let stub = StubTransport()
        stub.on("/socket", response: .webSocket(headers: ["Set-Cookie": "id=7; Path=/"]) { try await $0.echo() })
        stub.on("/a", response: .status(204))
        let agent = Self.agent(stub, filters: [.cookies])
        for _ in 0..<2 {
            let socket = agent.webSocket(Lines())
            #expect(try await Self.echoes(socket))
            await socket.close()
        }
        try await agent.send(Call<Void>(.get, "a"))
        #expect(stub.received.map { $0.headers["Cookie"] } == [nil, "id=7", "id=7"])
    }

    @Test("equal sockets aren't shared or cached, and a socket whose handshake is refused is retried")
    func ownConnections() async throws {
        let (gate, stub) = (Gate(), StubTransport())
        let open = StubResponse.webSocket(headers: ["Cache-Control": "max-age=60"]) { try await $0.echo() }
        stub.on(
            "/socket", response: open.waiting(for: gate), open.waiting(for: gate), .status(503), open)
        let retry = RetryPolicy(backoff: Backoff(base: .zero))
        let agent = Self.agent(
            stub, filters: [ResponseCache(.memory(), policy: .http), .coalescing, .retry(retry)])
        let sockets = [agent.webSocket(Lines()), agent.webSocket(Lines())]
        let opening = sockets.map { socket in Task { try await socket.open() } }
        try await gate.reached(by: 2)
        gate.open()
        for task in opening { try await task.value }
        for socket in sockets + [agent.webSocket(Lines())] {
            #expect(try await Self.echoes(socket))
            await socket.close()
        }
        #expect(stub.received.count == 4)
    }

    @Test("an indicator is shown while a socket connects, and not while it is open")
    func indicator() async throws {
        let (gate, stub) = (Gate(), StubTransport())
        stub.on("/socket", response: .webSocket { try await $0.echo() }.waiting(for: gate))
        let indicator = LoadingIndicator(delay: .zero, minimumDuration: .zero, interval: .zero)
        let socket = Self.agent(stub, accessories: [indicator]).webSocket(Lines())
        let opening = Task { try await socket.open() }
        for await state in indicator.states where state.isShown { break }
        gate.open()
        try await opening.value
        for await state in indicator.states where !state.isShown { break }
        #expect(try await Self.echoes(socket))
        #expect(!indicator.state.isShown)
        await socket.close()
    }
}
