import ErrandEssentials
import ErrandPlatform
import ErrandSupport
import Synchronization

/// Listens for the redirect of a sign-in. A single thread serves at most 16 connections.
final class LoopbackListener: Sendable {
    private static let maximumConnections = 16

    let authority: String
    private let socket: Int32
    private let bell: Bell
    private let reason = Mutex<(any Error)?>(nil)

    /// - Parameters:
    ///   - port: Nil for any free port.
    ///   - isNamed: Whether redirects lead to `localhost` instead of the address.
    init(on addresses: [LoopbackBrowser.Address], port fixed: UInt16? = nil, isNamed: Bool = false) throws(OAuthError) {
        guard let bell = Bell() else { throw OAuthError(.browserFailed, "the process has too many open files") }
        for address in addresses {
            guard let (socket, port) = try? LoopbackSocket.listen(ipv6: address == .ipv6, port: fixed ?? 0, backlog: 16)
            else { continue }
            (self.socket, self.bell) = (socket, bell)
            authority = (isNamed ? "localhost" : address == .ipv6 ? "[::1]" : "127.0.0.1") + ":\(port)"
            return
        }
        bell.close()
        let wanted = fixed.map { "listen on port \($0), which may be in use" } ?? "find a free port"
        throw OAuthError(.browserFailed, "the system can't \(wanted), for the redirect")
    }

    deinit {
        LoopbackSocket.end(socket)
        bell.close()
    }

    func stop(_ error: any Error) {
        reason.withLock { if $0 == nil { $0 = error } }
        bell.ring()
    }

    /// - Parameter isExpected: Whether a redirect belongs to the sign-in. Other redirects are refused.
    func redirect(
        to path: String, answer: String, accepting isExpected: @escaping @Sendable (_ redirect: String) -> Bool
    ) async throws -> String {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let isRunning = SystemThread.start(stack: 256 << 10) {
                    continuation.resume(with: self.serve(path, answer: answer, isExpected))
                }
                if !isRunning {
                    continuation.resume(throwing: OAuthError(.browserFailed, "the system can't start a thread"))
                }
            }
        } onCancel: {
            stop(CancellationError())
        }
    }

    private struct Connection {
        let socket: Int32
        var bytes: [UInt8] = []
    }

    private func serve(
        _ path: String, answer: String, _ isExpected: (String) -> Bool
    ) -> Result<String, any Error> {
        var connections: [Connection] = []
        var accepts = true
        defer { for connection in connections { LoopbackSocket.end(connection.socket) } }
        while true {
            // If the system can't accept a connection, the socket stays ready, and this loop would spin. It pauses
            // instead.
            let ready = Self.waitForInput(
                [bell.waits] + (accepts ? [socket] : []) + connections.map(\.socket),
                milliseconds: accepts ? -1 : Self.pause)
            accepts = true
            if ready.contains(bell.waits) {
                return .failure(reason.withLock { $0 } ?? CancellationError())
            }
            for index in connections.indices.reversed() where ready.contains(connections[index].socket) {
                let isOpen = Self.receive(connections[index].socket, into: &connections[index].bytes)
                let (socket, bytes) = (connections[index].socket, connections[index].bytes)
                switch LoopbackRequest.judge(bytes, path: path, authority: authority) {
                case .redirect(let target) where isExpected("http://\(authority)\(target)"):
                    Self.send(socket, answer)
                    return .success("http://\(authority)\(target)")
                case .redirect: Self.send(socket, LoopbackPage.text("", status: "400 Bad Request"))
                case .refused(let status): Self.send(socket, LoopbackPage.text("", status: status))
                case .incomplete where isOpen: continue
                case .incomplete: break
                }
                LoopbackSocket.end(socket)
                connections.remove(at: index)
            }
            guard ready.contains(socket) else { continue }
            if let accepted = LoopbackSocket.accept(socket) {
                // Browsers open connections that they don't use.
                if connections.count >= Self.maximumConnections {
                    LoopbackSocket.end(connections.removeFirst().socket)
                }
                connections.append(Connection(socket: accepted))
            } else if errno != EAGAIN && errno != EWOULDBLOCK {
                accepts = false
            }
        }
    }

    private static let pause: Int32 = 100

    private static func waitForInput(_ sockets: [Int32], milliseconds: Int32) -> Set<Int32> {
        var polled = sockets.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        LoopbackSocket.wait(&polled, milliseconds: milliseconds)
        return Set(polled.lazy.filter { $0.revents != 0 }.map(\.fd))
    }

    private static func receive(_ socket: Int32, into bytes: inout [UInt8]) -> Bool {
        while bytes.count <= LoopbackRequest.maximumBytes {
            switch LoopbackSocket.receive(socket, into: &bytes, limit: 4096) {
            case .bytes: continue
            case .wouldBlock: return true
            case .end, .failed: return false
            }
        }
        return true
    }

    /// Sends a response without waiting, because it fits in the socket's buffer.
    private static func send(_ socket: Int32, _ text: String) {
        _ = LoopbackSocket.send(socket, Array(text.utf8), from: 0)
        LoopbackSocket.shutDownWriting(socket)
    }
}
