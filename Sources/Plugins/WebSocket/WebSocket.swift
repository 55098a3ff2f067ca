// Start here: conform a request to ``SocketRequest``, and open it with `agent.socket(_:)`.
//
// Handshake/  the opening handshake: its fields, its filter, the connection that it leaves
// Frames/     bytes to messages and back: pure
// Session/    one connection after another, and the state that a socket shares with its readers and senders

public import Errand

/// A WebSocket (RFC 6455): typed messages in both directions, over one connection after another if it reconnects.
///
/// ```swift
/// let socket = agent.socket(Chat(room: 7))
/// try await socket.send(RoomCommand(text: "hello"))
/// for try await event in socket { print(event) }
/// ```
///
/// Connecting begins with the first message that is read or sent. The opening handshake is a request with everything
/// that the agent has for requests; the socket is an activity of the kind ``Errand/ActivityKind/stream`` around it.
/// Pings are responded to, and a server that is silent is sent some. A reader that is slow slows the server down, and a
/// slow server the senders.
///
/// Its messages are read by one reader; it may be sent to from any number of tasks, and each message goes as a whole.
/// Its end comes with ``close(_:reason:)``, ``cancel()``, `cancelAll` of the agent, the server's close frame, a
/// failure, and the last release of the socket. A cancelled task ends its own wait alone.
public final class WebSocket<Incoming: Sendable, Outgoing: Sendable>: AsyncSequence, Sendable {
    /// The type of a message of the server's.
    public typealias Element = Incoming
    /// ``WebSocketError``, or ``Errand/ErrandError`` for a failed connection.
    public typealias Failure = any Error

    let core: SocketCore
    private let decode: @Sendable (WebSocketMessage, SocketCoder) throws -> Incoming
    private let encode: @Sendable (Outgoing, SocketCoder) throws -> WebSocketMessage

    init<R: SocketRequest>(
        _ request: R, on agent: some Agent, _ options: CallOptions,
        _ onOpen: (@Sendable (SocketSender<Outgoing>) async throws -> Void)?
    ) where R.Incoming == Incoming, R.Outgoing == Outgoing {
        decode = { try request.decode($0, by: $1) }
        let encode: @Sendable (Outgoing, SocketCoder) throws -> WebSocketMessage = { try request.encode($0, by: $1) }
        self.encode = encode
        core = SocketCore(request, on: agent, options) { link, isFirst in
            try await onOpen?(SocketSender(link: link, encode: encode, isFirst: isFirst))
        }
    }

    deinit { core.cancel() }

    /// The current state.
    public var state: WebSocketState { core.current }

    /// Each state from now on, the current one first; ends after ``WebSocketState/closed(_:)``. A slow reader receives
    /// the newest 100.
    public var states: AsyncStream<WebSocketState> { core.states }

    /// The response to the last opening handshake; nil before the first.
    public var response: HTTPResponse? { core.response }

    /// The subprotocol that the server has chosen of those that were offered (RFC 6455, section 1.9); nil without one,
    /// and before the first connection.
    public var subprotocol: String? { response?.headers[.secWebSocketProtocol] }

    /// The code of the server's last close frame, ``CloseCode/noStatusReceived`` for one without a code; nil before one.
    public var closeCode: CloseCode? { core.closure?.code }

    /// The reason in the server's last close frame; empty without one.
    public var closeReason: String { core.closure?.reason ?? "" }

    /// Makes the connection, unless there is one; returns when it stands. Sending and reading do so too.
    public func open() async throws { try await core.opened() }

    /// Sends a message; returns when the system has all of it, which does not mean that the server has received it.
    /// Waits for a connection where ``SocketOptions/away`` says so.
    ///
    /// Throws ``WebSocketError`` with `closed`, `notConnected` or `encodingFailed`, and ``Errand/ErrandError``. After a
    /// failure of the connection, the server may have received the message or not.
    ///
    /// - Parameters:
    ///   - message: the message.
    ///   - compressed: whether it may be compressed, where ``SocketOptions/compression`` is on; false for one that mixes
    ///     secrets with what others choose.
    public func send(_ message: Outgoing, compressed: Bool = true) async throws {
        let link = try await core.inTurn { link in
            try link.add(link.encoded { try encode(message, $0) }, deflates: compressed)
        }
        do { try await link.flush() } catch {
            core.leaveFailed(link, error)
            throw error
        }
    }

    /// Sends a ping, and returns the time until the server has responded to it. Connects and waits as
    /// ``send(_:compressed:)`` does.
    ///
    /// Throws ``WebSocketError`` with `timedOut` where no pong comes within ``SocketOptions/pongTimeout``, after which the
    /// socket is open as before, and the error of a connection that ends. The pong waits behind messages that are not read.
    @discardableResult public func ping() async throws -> Duration {
        let link = try await core.link()
        let start = link.time.now
        try await link.ping()
        return start.duration(to: link.time.now)
    }

    /// Closes the socket: sends a close frame and waits for the server's, for ``SocketOptions/closeTimeout`` at most.
    /// Messages that were received before can still be read.
    ///
    /// - Parameters:
    ///   - code: 1000 or 3000 to 4999 in an app; one that may not be sent counts as none.
    ///   - reason: at most 123 bytes of UTF-8; more are cut off.
    public func close(_ code: CloseCode = .normalClosure, reason: String = "") async {
        await core.close(code, reason)
    }

    /// Ends the socket at once; its reader gets a cancellation.
    public func cancel() { core.cancel() }

    /// Ends the connection, or the wait for the next one, and connects again at once if the socket reconnects at all.
    public func reconnect() { core.reconnect() }

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator { Iterator(socket: self, isReader: core.claim()) }

    /// Takes the messages, on the caller's own actor.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let socket: WebSocket
        fileprivate let isReader: Bool

        /// The next message; nil once the socket is closed. After an error of the code
        /// ``WebSocketError/Code/decodingFailed`` the next one can be read; after any other one the socket has ended.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Incoming? {
            try checkReader()
            return try decoded(try await socket.core.next())
        }

        /// The next message, as ``next(isolation:)``, but ``WebSocketError/Code/timedOut`` where none comes in time. The
        /// one after it can be read then.
        public mutating func next(
            within limit: Duration, isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> Incoming? {
            try checkReader()
            return try decoded(try await socket.core.next(within: limit))
        }

        private func checkReader() throws {
            guard isReader else { throw WebSocketError(.alreadyRead, "a socket has one reader") }
        }

        private func decoded(_ received: SocketCore.Received?) throws -> Incoming? {
            guard let received else { return nil }
            do { return try socket.decode(received.message, received.coder) } catch let error as WebSocketError {
                throw error
            } catch {
                throw WebSocketError(
                    .decodingFailed, "a message is no \(Incoming.self): \(error.briefDescription)", underlying: error)
            }
        }
    }
}

/// Sends over a connection that was just made; see ``Errand/Agent/socket(_:options:onOpen:)``.
public struct SocketSender<Outgoing: Sendable>: Sendable {
    let link: SocketLink
    let encode: @Sendable (Outgoing, SocketCoder) throws -> WebSocketMessage
    /// Whether it is the first connection of the socket.
    public let isFirst: Bool

    /// Sends a message before those that wait.
    public func send(_ message: Outgoing) async throws {
        guard try link.add(link.encoded { try encode(message, $0) }) else { throw link.end }
        try await link.flush()
    }
}
