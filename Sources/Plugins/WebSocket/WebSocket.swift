// Start here: conform a request to ``WebSocketRequest``, and open it with `agent.webSocket(_:)`.
//
// Handshake/  the opening handshake: its header fields, its filter, and the resulting connection
// Frames/     converts between bytes and messages; pure
// Session/    connects and reconnects; the state shared with readers and senders

public import Errand
@_exported public import ErrandBackoff

/// A WebSocket (RFC 6455) that sends and receives typed messages. It can reconnect automatically.
///
/// ```swift
/// let socket = agent.webSocket(Chat(room: 7))
/// try await socket.send(RoomCommand(text: "hello"))
/// for try await event in socket { print(event) }
/// ```
///
/// The socket connects when you send or read the first message. It sends the opening handshake as a request with the
/// agent's configuration. The socket itself is an activity of the kind ``Errand/ActivityKind/stream``.
///
/// The socket answers pings, and sends a ping if the server is silent. If you read slowly, the server has to send
/// slowly. If the server reads slowly, calls of `send` take longer.
///
/// One task can read messages, and any number of tasks can send them.
///
/// The socket ends with ``close(_:reason:)``, ``cancel()``, the agent's `cancelAll`, the server's close frame, a
/// failure, or its deallocation. If you cancel a task, only that task's wait ends.
public final class WebSocket<Incoming: Sendable, Outgoing: Sendable>: AsyncSequence, Sendable {
    /// A message from the server.
    public typealias Element = Incoming
    /// Reading throws ``WebSocketError``, or ``Errand/ErrandError`` if the connection fails.
    public typealias Failure = any Error

    let core: SocketCore
    private let decode: @Sendable (WebSocketMessage, WebSocketCoder) throws -> Incoming
    private let encode: @Sendable (Outgoing, WebSocketCoder) throws -> WebSocketMessage

    init<R: WebSocketRequest>(
        _ request: R, on agent: some Agent, options: CallOptions,
        onOpen: (@Sendable (WebSocketSender<Outgoing>) async throws -> Void)?
    ) where R.Incoming == Incoming, R.Outgoing == Outgoing {
        decode = { try request.decode($0, by: $1) }
        let encode: @Sendable (Outgoing, WebSocketCoder) throws -> WebSocketMessage = { try request.encode($0, by: $1) }
        self.encode = encode
        core = SocketCore(request, on: agent, options: options) { link, isFirst in
            try await onOpen?(WebSocketSender(link: link, encode: encode, isFirst: isFirst))
        }
    }

    deinit { core.cancel() }

    /// The connection's current state, for display.
    public var state: WebSocketState { core.current }

    /// A sequence of the current state and each new state until ``WebSocketState/closed(_:)``. A slow reader gets the
    /// latest 100 states.
    public var states: AsyncStream<WebSocketState> { core.states }

    /// The response to the last opening handshake. It's nil before the first response.
    public var response: HTTPResponse? { core.response }

    /// The subprotocol that the server chose (RFC 6455, section 1.9). It's nil if the server didn't choose a
    /// subprotocol, or if the socket hasn't connected yet.
    public var subprotocol: String? { response?.headers[.secWebSocketProtocol] }

    /// The code in the server's last close frame, or ``CloseCode/noStatusReceived`` if the frame contained no code.
    /// It's nil until the server sends a close frame.
    public var closeCode: CloseCode? { core.closure?.code }

    /// The reason in the server's last close frame. It's empty if the frame had no reason, or before the server sends a
    /// close frame.
    public var closeReason: String { core.closure?.reason ?? "" }

    /// Connects if necessary, and returns when the connection is open. You needn't call it, because sending and reading
    /// connect automatically.
    public func open() async throws { try await core.opened() }

    /// Sends a message. Returns when the system has accepted all of its bytes, although the server may not have
    /// received them yet. If the socket isn't connected, ``WebSocketOptions/whileDisconnected`` determines whether the
    /// message waits for a connection.
    ///
    /// Throws ``WebSocketError`` with `closed`, `notConnected` or `encodingFailed`, or ``Errand/ErrandError``. If the
    /// connection fails, the server may or may not have received the message.
    ///
    /// - Parameters:
    ///   - message: The message.
    ///   - compressed: Whether the message may be compressed. Pass `false` for a message that mixes secrets with data
    ///     chosen by others. Defaults to true.
    public func send(_ message: Outgoing, compressed: Bool = true) async throws {
        let link = try await core.inTurn { link in
            try link.add(link.encoded { try encode(message, $0) }, deflates: compressed)
        }
        do { try await link.flush() } catch {
            core.leaveFailed(link, error)
            throw error
        }
    }

    /// Sends a ping, and returns the time until the server's response (pong). Connects and waits like
    /// ``send(_:compressed:)``.
    ///
    /// Throws ``WebSocketError`` with `timedOut` if the pong doesn't arrive within ``WebSocketOptions/pongTimeout``.
    /// The socket stays open after this error. If the connection ends, throws the connection's error. The pong is read
    /// after earlier messages, so unread messages delay it.
    @discardableResult public func ping() async throws -> Duration {
        let link = try await core.link()
        let start = link.time.now
        try await link.ping()
        return start.duration(to: link.time.now)
    }

    /// Closes the socket. Sends a close frame, and waits up to ``WebSocketOptions/closeTimeout`` for the server's close
    /// frame. You can still read messages that arrived earlier.
    ///
    /// - Parameters:
    ///   - code: The reason as a number. Apps may send 1000, and 3000 to 4999. A code that must not be sent is omitted.
    ///   - reason: Up to 123 bytes of UTF-8. Longer reasons are truncated.
    public func close(_ code: CloseCode = .normalClosure, reason: String = "") async {
        await core.close(code, reason)
    }

    /// Ends the socket immediately. Its reader gets a cancellation error.
    public func cancel() { core.cancel() }

    /// Ends the current connection, or the wait for the next connection, and reconnects immediately. Requires
    /// reconnection to be on.
    public func reconnect() { core.reconnect() }

    /// Creates an iterator. A socket can have only one reader.
    public func makeAsyncIterator() -> Iterator { Iterator(socket: self, isReader: core.claim()) }

    /// Reads the socket's messages on the caller's actor.
    public struct Iterator: AsyncIteratorProtocol {
        fileprivate let socket: WebSocket
        fileprivate let isReader: Bool

        /// Returns the next message, or nil after the socket was closed. After ``WebSocketError/Code/decodingFailed``,
        /// you can read the next message. Any other error ends the socket.
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> Incoming? {
            try checkReader()
            return try decoded(try await socket.core.next())
        }

        /// Returns the next message like ``next(isolation:)``, but throws ``WebSocketError/Code/timedOut`` if it
        /// doesn't arrive within the limit. You can continue reading after that.
        public mutating func next(
            within limit: Duration, isolation actor: isolated (any Actor)? = #isolation
        ) async throws -> Incoming? {
            try checkReader()
            return try decoded(try await socket.core.next(within: limit))
        }

        private func checkReader() throws {
            guard isReader else { throw WebSocketError(.alreadyRead, "a socket can have only one reader") }
        }

        private func decoded(_ received: SocketCore.Received?) throws -> Incoming? {
            guard let received else { return nil }
            do { return try socket.decode(received.message, received.coder) } catch let error as WebSocketError {
                throw error
            } catch {
                throw WebSocketError(
                    .decodingFailed, "a message can't be decoded as \(Incoming.self): \(error.briefDescription)",
                    underlying: error)
            }
        }
    }
}

/// Sends messages over a new connection before all other messages. See ``Errand/Agent/webSocket(_:options:onOpen:)``.
public struct WebSocketSender<Outgoing: Sendable>: Sendable {
    let link: SocketLink
    let encode: @Sendable (Outgoing, WebSocketCoder) throws -> WebSocketMessage
    /// Whether this is the socket's first connection.
    public let isFirst: Bool

    /// Sends a message over the new connection, before the messages that wait for a connection.
    public func send(_ message: Outgoing) async throws {
        guard try link.add(link.encoded { try encode(message, $0) }) else { throw link.end }
        try await link.flush()
    }
}
