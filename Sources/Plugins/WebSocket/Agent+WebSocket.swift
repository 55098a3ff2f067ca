public import Errand

extension Agent {
    /// Returns a WebSocket to the server. It connects when you send or read the first message.
    ///
    /// ```swift
    /// let socket = agent.webSocket(Chat(room: 7))
    /// try await socket.send(RoomCommand(text: "hello"))
    /// for try await event in socket { print(event) }
    /// ```
    ///
    /// - Parameters:
    ///   - request: Describes the opening handshake and the types of messages.
    ///   - options: The call options of handshakes.
    ///   - onOpen: Called for each new connection, including the first, before any other message is sent over it. Use
    ///     it to subscribe again, for example. An error that it throws ends the connection. It must not read messages.
    public func webSocket<R: WebSocketRequest>(
        _ request: R, options: CallOptions = CallOptions(),
        onOpen: (@Sendable (WebSocketSender<R.Outgoing>) async throws -> Void)? = nil
    ) -> WebSocket<R.Incoming, R.Outgoing> {
        WebSocket(request, on: self, options, onOpen)
    }
}
