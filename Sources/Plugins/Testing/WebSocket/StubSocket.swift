public import Errand
import ErrandEssentials
import Synchronization

extension StubResponse {
    /// Opens an in-memory WebSocket and passes the server's end to a closure. The connection closes once the closure
    /// returns or throws.
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
    ///   - headers: Additional fields of the response, such as a subprotocol.
    ///   - body: The server's script.
    public static func webSocket(
        headers: HTTPHeaders = [:], _ body: @escaping @Sendable (StubSocket) async throws -> Void
    ) -> StubResponse {
        var fields: HTTPHeaders = [.upgrade: "websocket", .connection: "Upgrade"]
        fields.merge(headers)
        return StubResponse(fields, body)
    }
}

/// The server's end of a stubbed WebSocket. It doesn't check frames, so a test can break the protocol.
public final class StubSocket: Sendable {
    private let connection: MemoryConnection
    private let input: Mutex<Data>

    init(_ connection: MemoryConnection, _ rest: Data) {
        self.connection = connection
        input = Mutex(rest)
    }

    /// Returns the client's next frame, unmasked, or `nil` once the client has closed the connection. For a single
    /// reader.
    public func receive() async throws -> TestFrame? {
        while true {
            if let frame = input.withLock({ TestFrame.take(from: &$0) }) { return frame }
            guard let bytes = try await connection.receive() else { return nil }
            input.withLock { $0.append(bytes) }
        }
    }

    /// Sends a frame, without its mask, so you can return a received one. Throws ``Errand/ErrandError`` with
    /// `connectionLost` once the client has closed the connection.
    public func send(_ frame: TestFrame) async throws {
        var frame = frame
        frame.mask = nil
        connection.enqueue(frame.wireBytes())
        try await connection.flush()
    }

    /// Sends a close frame, waits for the client's close frame, and returns it.
    @discardableResult public func close(_ code: UInt16? = 1000, _ reason: String = "") async throws -> TestFrame? {
        try await send(.close(code, reason))
        while let frame = try await receive() { if frame.opcode == 8 { return frame } }
        return nil
    }

    /// Echoes messages and answers pings until the client closes the socket.
    public func echo() async throws {
        while let frame = try await receive() {
            if frame.opcode == 9 { try await send(.pong(frame.content)) } else { try await send(frame) }
            if frame.opcode == 8 { return }
        }
    }
}
