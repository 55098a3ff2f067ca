public import Errand
import ErrandEssentials
import Synchronization

extension StubResponse {
    /// Opens a WebSocket in memory, and hands its server's end to a closure; the connection is closed when that has
    /// returned or thrown.
    ///
    /// ```swift
    /// let stub = StubTransport()
    /// stub.on("/rooms/7/socket", response: .webSocket { socket in
    ///     try await socket.send(.text(#"{"text":"welcome"}"#))
    ///     try await socket.echo()
    /// })
    /// ```
    ///
    /// - Parameters:
    ///   - headers: further fields of the response, such as a subprotocol.
    ///   - body: the server; the connection ends when it returns.
    public static func webSocket(
        headers: HTTPHeaders = [:], _ body: @escaping @Sendable (StubSocket) async throws -> Void
    ) -> StubResponse {
        var fields: HTTPHeaders = [.upgrade: "websocket", .connection: "Upgrade"]
        fields.merge(headers)
        return StubResponse(fields, body)
    }
}

/// The server's end of a WebSocket of a ``StubTransport``. Frames are sent as they are, so that they may break the protocol.
public final class StubSocket: Sendable {
    private let connection: MemoryConnection
    private let input: Mutex<Data>

    init(_ connection: MemoryConnection, _ rest: Data) {
        self.connection = connection
        input = Mutex(rest)
    }

    /// The next frame of the client's, unmasked; nil once the client has closed the connection. By one reader.
    public func receive() async throws -> TestFrame? {
        while true {
            if let frame = input.withLock({ TestFrame.take(from: &$0) }) { return frame }
            guard let bytes = try await connection.receive() else { return nil }
            input.withLock { $0.append(bytes) }
        }
    }

    /// Sends a frame. One that the client has sent goes back unmasked. Throws ``Errand/ErrandError`` with `connectionLost`
    /// once the client has closed the connection.
    public func send(_ frame: TestFrame) async throws {
        var frame = frame
        frame.mask = nil
        connection.enqueue(frame.wireBytes())
        try await connection.flush()
    }

    /// Sends a close frame and waits for that of the client, as a server does; returns that.
    @discardableResult public func close(_ code: UInt16? = 1000, _ reason: String = "") async throws -> TestFrame? {
        try await send(.close(code, reason))
        while let frame = try await receive() { if frame.opcode == 8 { return frame } }
        return nil
    }

    /// Sends all messages back until the client closes the socket, and responds to that.
    public func echo() async throws {
        while let frame = try await receive() {
            if frame.opcode == 9 { try await send(.pong(frame.content)) } else { try await send(frame) }
            if frame.opcode == 8 { return }
        }
    }
}
