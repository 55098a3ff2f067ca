public import Errand
public import ErrandEssentials

/// A request that opens a WebSocket. It also defines the types of the socket's messages.
///
/// ```swift
/// struct Chat: WebSocketRequest {
///     typealias Incoming = RoomEvent
///     typealias Outgoing = RoomCommand
///     let room: Int
///     var path: String { "rooms/\(room)/socket" }
/// }
///
/// let socket = agent.webSocket(Chat(room: 7))
/// ```
///
/// Set the path, headers, authorization and so on as for any request. In URLs, `http` and `https` mean `ws` and `wss`.
///
/// Messages can be `String`, `Data`, ``WebSocketMessage`` (the default), or any `Decodable` and `Encodable` types. The
/// agent's decoder and encoder convert such types, and JSON is sent as text. For any other type, implement `decode` or
/// `encode`.
public protocol WebSocketRequest<Incoming, Outgoing>: FilterProvidingRequest
where Output == HTTPResponse {
    /// The type of the server's messages.
    associatedtype Incoming: Sendable = WebSocketMessage
    /// The type of the client's messages.
    associatedtype Outgoing: Sendable = WebSocketMessage

    /// The socket's options. By default, compression and reconnection are off.
    var webSocketOptions: WebSocketOptions { get }
    /// Converts a received message to a value. If it throws, reading throws ``WebSocketError/Code/decodingFailed`` with
    /// the error as `underlying`.
    func decode(_ message: WebSocketMessage, by coder: WebSocketCoder) throws -> Incoming
    /// Converts a value to a message. If it throws, sending throws ``WebSocketError/Code/encodingFailed`` with the
    /// error as `underlying`.
    func encode(_ message: Outgoing, by coder: WebSocketCoder) throws -> WebSocketMessage
}

extension WebSocketRequest {
    /// The default options.
    public var webSocketOptions: WebSocketOptions { WebSocketOptions() }
    /// A filter that turns the request into an opening handshake. If you send the request with any method other than
    /// the agent's `webSocket(_:)`, the filter throws `notASocket`.
    public var requiredFilters: [any Filter] { [OpeningFilter(core: nil)] }
}

extension WebSocketRequest where Incoming == WebSocketMessage {
    /// Returns the message unchanged.
    public func decode(_ message: WebSocketMessage, by coder: WebSocketCoder) throws -> Incoming { message }
}

extension WebSocketRequest where Incoming == String {
    /// Returns the text of the message. Throws if the message is binary.
    public func decode(_ message: WebSocketMessage, by coder: WebSocketCoder) throws -> Incoming {
        guard case .text(let text) = message else {
            throw WebSocketError(.decodingFailed, "expected text, found a binary message")
        }
        return text
    }
}

extension WebSocketRequest where Incoming == Data {
    /// Returns the message's bytes. Text is returned as UTF-8 bytes.
    public func decode(_ message: WebSocketMessage, by coder: WebSocketCoder) throws -> Incoming { message.bytes }
}

extension WebSocketRequest where Incoming: Decodable {
    /// Decodes the message with the request's or the agent's decoder.
    public func decode(_ message: WebSocketMessage, by coder: WebSocketCoder) throws -> Incoming {
        try coder.decode(Incoming.self, from: message)
    }
}

extension WebSocketRequest where Outgoing == WebSocketMessage {
    /// Returns the message unchanged.
    public func encode(_ message: Outgoing, by coder: WebSocketCoder) throws -> WebSocketMessage { message }
}

extension WebSocketRequest where Outgoing == String {
    /// Returns a text message.
    public func encode(_ message: Outgoing, by coder: WebSocketCoder) throws -> WebSocketMessage { .text(message) }
}

extension WebSocketRequest where Outgoing == Data {
    /// Returns a binary message.
    public func encode(_ message: Outgoing, by coder: WebSocketCoder) throws -> WebSocketMessage { .data(message) }
}

extension WebSocketRequest where Outgoing: Encodable {
    /// Encodes the message with the agent's encoder.
    public func encode(_ message: Outgoing, by coder: WebSocketCoder) throws -> WebSocketMessage {
        try coder.encode(message)
    }
}

extension WebSocketRequest {
    /// Explains at compile time why `Incoming` has no default `decode`.
    @available(
        *, unavailable,
        message: """
            'Incoming' has no default 'decode'. If your app's default isolation is MainActor, declare the message as \
            'nonisolated struct Event: Decodable'. If it isn't Decodable, implement 'decode' in the request
            """
    )
    public func decode(_ message: WebSocketMessage, by coder: WebSocketCoder) throws -> Incoming {
        throw WebSocketError(.decodingFailed, "the request doesn't implement decode")
    }

    /// Explains at compile time why `Outgoing` has no default `encode`.
    @available(
        *, unavailable,
        message: """
            'Outgoing' has no default 'encode'. If your app's default isolation is MainActor, declare the message as \
            'nonisolated struct Command: Encodable'. If it isn't Encodable, implement 'encode' in the request
            """
    )
    public func encode(_ message: Outgoing, by coder: WebSocketCoder) throws -> WebSocketMessage {
        throw WebSocketError(.encodingFailed, "the request doesn't implement encode")
    }
}

extension Agent {
    /// Returns a WebSocket. It connects when you send or read the first message.
    ///
    /// ```swift
    /// let socket = agent.webSocket(Chat(room: 7))
    /// try await socket.send(RoomCommand(text: "hello"))
    /// for try await event in socket { print(event) }
    /// ```
    ///
    /// - Parameters:
    ///   - request: The request for the opening handshake. It also defines the types of messages.
    ///   - options: The call options of each opening handshake.
    ///   - onOpen: Called for each new connection before any other message is sent over it, for example to subscribe
    ///     again. If it throws, the connection ends. Don't read messages in it.
    public func webSocket<R: WebSocketRequest>(
        _ request: R, options: CallOptions = CallOptions(),
        onOpen: (@Sendable (WebSocketSender<R.Outgoing>) async throws -> Void)? = nil
    ) -> WebSocket<R.Incoming, R.Outgoing> {
        WebSocket(request, on: self, options: options, onOpen: onOpen)
    }
}
