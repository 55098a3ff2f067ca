public import Errand

extension Agent {
    /// A WebSocket to the server, as the request describes it. Nothing is sent before the first message is read or
    /// sent.
    ///
    /// ```swift
    /// let socket = agent.socket(Chat(room: 7))
    /// try await socket.send(RoomCommand(text: "hello"))
    /// for try await event in socket { print(event) }
    /// ```
    ///
    /// - Parameters:
    ///   - request: the opening handshake and the types of the messages.
    ///   - options: those of the handshakes.
    ///   - onOpen: called with each new connection, the first one included, before any other message is sent over it,
    ///     such as to subscribe again; what it throws ends that connection. It must not read.
    public func socket<R: SocketRequest>(
        _ request: R, options: CallOptions = CallOptions(),
        onOpen: (@Sendable (SocketSender<R.Outgoing>) async throws -> Void)? = nil
    ) -> WebSocket<R.Incoming, R.Outgoing> {
        WebSocket(request, on: self, options, onOpen)
    }
}
