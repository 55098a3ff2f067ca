import Errand
import ErrandEssentials
import ErrandSystemTransport
import ErrandTesting
import ErrandWebSocket
import Testing

#if os(Linux)
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif

/// Sockets that end while they aren't reading or sending.
@Suite("The end of a WebSocket", .endsInTime, .leakChecked) struct SocketEndingTests {
    enum Stage: String, CaseIterable {
        /// The server doesn't speak TLS.
        case securing
        /// The server doesn't respond.
        case opening
        /// The closure for a new connection hasn't returned.
        case greeting
        /// The server doesn't receive the rest of a message.
        case sending
        /// The server sends more than is read.
        case holding
        /// The first connection is lost, and the next one is due in an hour.
        case waiting
        /// The server doesn't respond to the close frame.
        case closing
    }

    enum Variant: CaseIterable {
        case cancelled, allCancelled
        /// Its user's task is cancelled, and the last reference is released.
        case released
    }

    private struct Lines: WebSocketRequest {
        typealias Incoming = String
        typealias Outgoing = String
        let path = "socket"
        var webSocketOptions: WebSocketOptions {
            WebSocketOptions(
                reconnection: ReconnectionPolicy(
                    backoff: Backoff(base: .seconds(3600), maximumDelay: .seconds(3600)), minimumDelay: .seconds(3600)),
                pingInterval: nil, closeTimeout: .seconds(3600))
        }
    }

    /// Returns a server that proceeds up to a stage, and logs when it reaches that stage and when a connection has
    /// ended.
    private func server(_ stage: Stage, _ reached: Log<Int>, _ ended: Log<Int>) throws -> RawServer {
        try RawServer { peer in
            defer { ended.add(1) }
            if stage == .securing {
                _ = peer.read(1)
            } else {
                guard let head = peer.readHead() else { return }
                if stage != .opening {
                    let key = head.firstMatch(of: /Sec-WebSocket-Key: (\S+)/)?.1 ?? ""
                    let fields = "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: "
                    peer.send("HTTP/1.1 101 \r\n\(fields)\(TestWebSocket.accept(String(key)))\r\n\r\n")
                }
                if stage == .waiting { return }
                if stage == .sending { _ = peer.read(1) }
                if stage == .holding {
                    let frame = [UInt8](TestFrame.text(String(repeating: "x", count: 100_000)).wireBytes())
                    var count = 0
                    while peer.send(frame) {
                        count += 1
                        if count == 20 { reached.add(1) }
                    }
                    return
                }
                // The head of a masked close frame with a code.
                if stage == .closing { _ = peer.read(8) }
            }
            reached.add(1)
            _ = peer.drain()
        }
    }

    /// A socket that proceeds up to a stage.
    private struct Subject: Sendable {
        let socket: WebSocket<String, String>
        let work: Task<Void, any Error>
        /// Blocks the greeting.
        let gate = Gate()

        init(_ stage: Stage, _ agent: NetworkAgent) async throws {
            let socket = agent.webSocket(Lines()) { [gate] _ in
                if stage == .greeting { try await gate.wait() }
            }
            self.socket = socket
            if stage == .closing { try await socket.open() }
            work = Task {
                switch stage {
                case .closing: await socket.close()
                case .sending: try await socket.send(String(repeating: "x", count: 16 << 20))
                default: try await socket.open()
                }
            }
        }

        /// Waits for the stages that only the client can observe.
        func arrives(at stage: Stage) async throws {
            if stage == .greeting { try await gate.reached() }
            if stage == .waiting { for await state in socket.states { if case .waiting = state { break } } }
        }
    }

    private static func agent(_ stage: Stage, port: Int) -> NetworkAgent {
        NetworkAgent(baseURL: "\(stage == .securing ? "https" : "http")://127.0.0.1:\(port)", transport: .system)
    }

    @Test("a released socket ends its connection", arguments: Stage.allCases, Variant.allCases)
    func ends(_ stage: Stage, _ variant: Variant) async throws {
        let (reached, ended) = (Log<Int>(), Log<Int>())
        let server = try server(stage, reached, ended)
        let agent = Self.agent(stage, port: Int(server.port))
        var subject: Subject? = try await Subject(stage, agent)
        try await subject?.arrives(at: stage)
        if stage != .waiting { try await reached.wait { !$0.isEmpty } }
        let work = try #require(subject).work
        switch variant {
        case .cancelled: subject?.socket.cancel()
        case .allCancelled: agent.cancelAll()
        case .released:
            work.cancel()
            _ = await work.result
            subject = nil
        }
        _ = await work.result
        try await ended.wait { !$0.isEmpty }
        try await eventually { agent.activities.isEmpty }
    }

    @Test("the end of the process ends the connection", arguments: Stage.allCases)
    func endsWithProcess(_ stage: Stage) async throws {
        let (reached, ended) = (Log<Int>(), Log<Int>())
        let server = try server(stage, reached, ended)
        let signal = try RawServer { peer in
            guard peer.readHead() != nil else { return }
            while stage != .waiting, reached.all.isEmpty { usleep(1000) }
            peer.send("HTTP/1.1 204 \r\n\r\n")
        }
        await #expect(processExitsWith: .success) {
            [name = stage.rawValue as String, port = Int(server.port) as Int, signal = Int(signal.port) as Int] in
            let stage = try #require(Stage(rawValue: name))
            let subject = try await Subject(stage, Self.agent(stage, port: port))
            try await subject.arrives(at: stage)
            // The server has reached the stage too.
            try await Self.agent(.opening, port: signal).send(Call<Void>(.get, "/"))
            withExtendedLifetime(subject) {}
        }
        try await ended.wait { !$0.isEmpty }
    }
}
#endif
