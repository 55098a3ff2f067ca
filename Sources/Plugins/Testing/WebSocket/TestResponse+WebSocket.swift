public import Errand
import ErrandDigests
import ErrandEssentials

extension TestResponse {
    /// Opens a WebSocket and passes the server's end to a closure. The connection closes once it returns or throws.
    ///
    /// ```swift
    /// server.on("/echo", .webSocket { socket in
    ///     while let frame = try socket.receive(), frame.opcode != 8 { try socket.send(frame) }
    ///     try socket.send(.close())
    /// })
    /// ```
    ///
    /// Frames aren't checked, so the server can break the protocol at any byte. Modifiers change the handshake
    /// response.
    public static func webSocket(
        headers: HTTPHeaders = [:], _ body: @escaping @Sendable (TestWebSocket) throws -> Void
    ) -> TestResponse {
        .computed { request in
            let key = request.headers[.secWebSocketKey] ?? ""
            var fields: HTTPHeaders = [.upgrade: "websocket", .connection: "Upgrade"]
            fields.add(.secWebSocketAccept, TestWebSocket.accept(key))
            fields.merge(headers)
            return TestResponse(status: 101, headers: fields).continuing { try body(TestWebSocket($0)) }
        }
    }
}

/// The server's end of a WebSocket. Its methods block the connection's thread.
public final class TestWebSocket {
    /// The underlying connection, for bytes that aren't frames.
    public let connection: TestConversation
    private var input = Data()

    init(_ connection: TestConversation) { self.connection = connection }

    /// Returns the client's next frame, unmasked, or `nil` once the client has sent its last byte.
    public func receive() throws -> TestFrame? {
        while true {
            if let frame = TestFrame.take(from: &input) { return frame }
            guard let bytes = try connection.receive() else { return nil }
            input.append(bytes)
        }
    }

    /// Sends a frame, without its mask, so you can return a received one. Uses pieces of `size` bytes if you pass it.
    public func send(_ frame: TestFrame, inPiecesOf size: Int? = nil) throws {
        var frame = frame
        frame.mask = nil
        try connection.send(frame.wireBytes(), inPiecesOf: size)
    }

    /// Sends a close frame, waits for the client's close frame, and returns it.
    @discardableResult public func close(_ code: UInt16? = 1000, _ reason: String = "") throws -> TestFrame? {
        try send(.close(code, reason))
        while let frame = try receive() { if frame.opcode == 8 { return frame } }
        return nil
    }

    /// Echoes messages and answers pings until the client closes the socket.
    public func echo() throws {
        while let frame = try receive() {
            if frame.opcode == 9 { try send(.pong(frame.content)) } else { try send(frame) }
            if frame.opcode == 8 { return }
        }
    }

    /// Returns the `Sec-WebSocket-Accept` value for a key (RFC 6455, section 4.2.2).
    public static func accept(_ key: String) -> String {
        Data(SHA1Digest.digest(of: Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))).base64EncodedString()
    }
}
