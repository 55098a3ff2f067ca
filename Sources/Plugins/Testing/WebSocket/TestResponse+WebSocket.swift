public import Errand
import ErrandDigests
import ErrandEssentials

extension TestResponse {
    /// Opens a WebSocket, and hands its server's end to a closure; the connection is closed when that has returned.
    ///
    /// ```swift
    /// server.on("/echo", .webSocket { socket in
    ///     while let frame = try socket.receive(), frame.opcode != 8 { try socket.send(frame) }
    ///     try socket.send(.close())
    /// })
    /// ```
    ///
    /// The frames are sent as they are, so that a server can break the protocol at any byte. Modifiers change the response
    /// to the handshake.
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

/// The server's end of a WebSocket; its calls block the thread of the connection.
public final class TestWebSocket {
    /// The connection, for bytes that are no frames.
    public let connection: TestConversation
    private var input = Data()

    init(_ connection: TestConversation) { self.connection = connection }

    /// The next frame of the client's, unmasked; nil once it has sent its last byte.
    public func receive() throws -> TestFrame? {
        while true {
            if let frame = TestFrame.take(from: &input) { return frame }
            guard let bytes = try connection.receive() else { return nil }
            input.append(bytes)
        }
    }

    /// Sends a frame, in pieces of `size` bytes if one is given. One that the client has sent goes back unmasked.
    public func send(_ frame: TestFrame, inPiecesOf size: Int? = nil) throws {
        var frame = frame
        frame.mask = nil
        try connection.send(frame.wireBytes(), inPiecesOf: size)
    }

    /// Sends a close frame and waits for that of the client, as a server does; returns that.
    @discardableResult public func close(_ code: UInt16? = 1000, _ reason: String = "") throws -> TestFrame? {
        try send(.close(code, reason))
        while let frame = try receive() { if frame.opcode == 8 { return frame } }
        return nil
    }

    /// Sends all messages back until the client closes the socket, and responds to that.
    public func echo() throws {
        while let frame = try receive() {
            if frame.opcode == 9 { try send(.pong(frame.content)) } else { try send(frame) }
            if frame.opcode == 8 { return }
        }
    }

    /// The digest of a key (RFC 6455, section 4.2.2).
    public static func accept(_ key: String) -> String {
        Data(SHA1Digest.digest(of: Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))).base64EncodedString()
    }
}
