import Errand
import ErrandEssentials
import ErrandSystemTransport
import ErrandTesting
import ErrandWebSocket
import Testing

#if os(Linux)
/// Ends of sockets at the points of their lives at which nothing is read or sent.
@Suite("The end of a WebSocket", .timeLimit(.minutes(10)), .leakChecked) struct SocketEndingTests {
    enum Stage: CaseIterable {
        /// The server does not speak TLS.
        case securing
        /// The server does not respond.
        case opening
        /// The first connection is lost, and the next one is made in an hour.
        case waiting
        /// The server does not respond to the close frame.
        case closing
    }

    enum Way: CaseIterable {
        case cancelled, allCancelled
        /// Its user's task is cancelled, and nothing holds it any longer.
        case released
    }

    private struct Lines: SocketRequest {
        typealias Incoming = String
        typealias Outgoing = String
        let path = "socket"
        var socketOptions: SocketOptions {
            SocketOptions(
                reconnection: ReconnectionPolicy(
                    backoff: Backoff(base: .seconds(3600), maximumDelay: .seconds(3600)), minimumDelay: .seconds(3600)),
                pingInterval: nil, closeTimeout: .seconds(3600))
        }
    }

    /// A server that goes as far as a stage, and notes when that is reached, and when a connection has ended.
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
                // The head of a masked close frame with a code.
                if stage == .closing { _ = peer.read(8) }
            }
            reached.add(1)
            _ = peer.drain()
        }
    }

    @Test("it ends, and its connection with it", arguments: Stage.allCases, Way.allCases)
    func ends(_ stage: Stage, _ way: Way) async throws {
        let (reached, ended) = (Log<Int>(), Log<Int>())
        let server = try server(stage, reached, ended)
        let scheme = stage == .securing ? "https" : "http"
        let agent = NetworkAgent(baseURL: "\(scheme)://127.0.0.1:\(server.port)", transport: .system)
        var socket: WebSocket<String, String>? = agent.socket(Lines())
        let states = try #require(socket).states
        if stage == .closing { try await socket?.open() }
        let work = Task { [socket] in
            if stage == .closing { await socket?.close() } else { try await socket?.open() }
        }
        switch stage {
        case .waiting: for await state in states { if case .waiting = state { break } }
        default: try await reached.wait { !$0.isEmpty }
        }
        switch way {
        case .cancelled: socket?.cancel()
        case .allCancelled: agent.cancelAll()
        case .released:
            work.cancel()
            _ = await work.result
            socket = nil
        }
        _ = await work.result
        try await ended.wait { !$0.isEmpty }
        try await eventually { agent.activities.isEmpty }
    }
}
#endif
