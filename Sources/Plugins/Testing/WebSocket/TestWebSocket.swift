public import Errand
import ErrandDigests
public import ErrandEssentials

extension TestResponse {
    /// Returns a response that opens a WebSocket, and passes the server's side to a closure. The connection closes when
    /// the closure returns or throws.
    ///
    /// ```swift
    /// server.on("/echo", .webSocket { socket in
    ///     while let frame = try socket.receive(), frame.opcode != 8 { try socket.send(frame) }
    ///     try socket.send(.close())
    /// })
    /// ```
    ///
    /// The server doesn't check frames, so it can violate the protocol. To change the response to the handshake, add
    /// modifiers.
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

/// The server's side of a WebSocket. Its methods block the connection's thread.
public final class TestWebSocket {
    /// The underlying connection. Use it to send bytes that aren't frames.
    public let connection: TestConversation
    private var input = Data()

    init(_ connection: TestConversation) { self.connection = connection }

    /// Returns the next frame that the client sends, without its mask. Returns `nil` if the client has closed its
    /// sending direction.
    public func receive() throws -> TestFrame? {
        while true {
            if let frame = TestFrame.take(from: &input) { return frame }
            guard let bytes = try connection.receive() else { return nil }
            input.append(bytes)
        }
    }

    /// Sends a frame without its mask. You can therefore send a received frame back. If you pass `size`, sends the
    /// frame in pieces of this size.
    public func send(_ frame: TestFrame, inPiecesOf size: Int? = nil) throws {
        var frame = frame
        frame.mask = nil
        try connection.send(frame.wireBytes(), inPiecesOf: size)
    }

    /// Sends a close frame, and returns the close frame with which the client responds.
    @discardableResult public func close(_ code: UInt16? = 1000, _ reason: String = "") throws -> TestFrame? {
        try send(.close(code, reason))
        while let frame = try receive() { if frame.opcode == 8 { return frame } }
        return nil
    }

    /// Sends received messages back and responds to pings, until the client closes the socket.
    public func echo() throws {
        while let frame = try receive() {
            if frame.opcode == 9 { try send(.pong(frame.content)) } else { try send(frame) }
            if frame.opcode == 8 { return }
        }
    }

    /// Returns the value of `Sec-WebSocket-Accept` that belongs to a key (RFC 6455, section 4.2.2).
    public static func accept(_ key: String) -> String {
        Data(SHA1Digest.digest(of: Array((key + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").utf8))).base64EncodedString()
    }
}

/// A WebSocket frame (RFC 6455, section 5.2). It can be invalid.
public struct TestFrame: Sendable, Hashable {
    /// Whether this is the last frame of its message.
    public var isFinal = true
    /// The reserved bits as a number from 0 to 7. The bit RSV1 marks a compressed message. It's 4 in this number.
    public var reserved: UInt8 = 0
    /// The opcode, from 0 to 15:
    ///
    /// - 0 continues a message.
    /// - 1 is text, and 2 is binary data.
    /// - 8 is a close frame, 9 is a ping, and 10 is a pong.
    public var opcode: UInt8
    /// The masking key of four bytes. If bytes are missing, they count as zero. It's `nil` for frames without a mask,
    /// as servers send them.
    public var mask: [UInt8]?
    /// The content, without the mask.
    public var content: Data

    /// Creates a frame. By default, the frame isn't masked, and is the last frame of its message.
    public init(
        opcode: UInt8, _ content: Data = Data(), isFinal: Bool = true, reserved: UInt8 = 0, mask: [UInt8]? = nil
    ) {
        (self.opcode, self.content, self.isFinal) = (opcode, content, isFinal)
        (self.reserved, self.mask) = (reserved, mask)
    }

    /// Returns a frame with a whole text message.
    public static func text(_ text: String) -> TestFrame { TestFrame(opcode: 1, Data(text.utf8)) }
    /// Returns a frame with a whole binary message.
    public static func data(_ data: Data) -> TestFrame { TestFrame(opcode: 2, data) }
    /// Returns a ping frame with a text.
    public static func ping(_ content: String = "") -> TestFrame { TestFrame(opcode: 9, Data(content.utf8)) }
    /// Returns a pong frame with bytes.
    public static func pong(_ content: Data = Data()) -> TestFrame { TestFrame(opcode: 10, content) }
    /// Returns a close frame. Pass `nil` to create a close frame without a code.
    public static func close(_ code: UInt16? = 1000, _ reason: String = "") -> TestFrame {
        TestFrame(opcode: 8, (code.map { Data([UInt8($0 >> 8), UInt8($0 & 0xFF)]) } ?? Data()) + Data(reason.utf8))
    }

    /// The content as text. Invalid UTF-8 is replaced.
    public var text: String { String(decoding: content, as: UTF8.self) }
    /// The code of a close frame. It's `nil` if the frame doesn't contain a code.
    public var closeCode: UInt16? {
        content.count < 2 ? nil : UInt16(content[content.startIndex]) << 8 | UInt16(content[content.startIndex + 1])
    }

    /// Returns the bytes of the frame. By default, the length has its shortest form. Pass `lengthBytes` to encode the
    /// length with 0, 2, or 8 additional bytes.
    public func wireBytes(lengthBytes: Int? = nil) -> Data {
        let count = content.count
        let size = lengthBytes ?? (count < 126 ? 0 : count <= 0xFFFF ? 2 : 8)
        var bytes = Data([(isFinal ? 0x80 : 0) | (reserved & 7) << 4 | opcode & 15])
        bytes.append((mask == nil ? 0 : 0x80) | (size == 0 ? UInt8(count & 0x7F) : size == 2 ? 126 : 127))
        for index in (0..<max(0, size)).reversed() {
            bytes.append(UInt8(truncatingIfNeeded: UInt64(count) >> (8 * index)))
        }
        guard let mask else { return bytes + content }
        bytes.append(contentsOf: mask)
        let key = Array((mask + [0, 0, 0, 0]).prefix(4))
        bytes.append(contentsOf: content.enumerated().map { $0.element ^ key[$0.offset & 3] })
        return bytes
    }

    /// Removes a frame from the start of the bytes, and returns the frame. Returns `nil` if the frame is incomplete.
    public static func take(from bytes: inout Data) -> TestFrame? {
        let all = [UInt8](bytes.prefix(14))
        guard all.count >= 2 else { return nil }
        let (short, isMasked) = (Int(all[1] & 0x7F), all[1] & 0x80 != 0)
        let size = short < 126 ? 0 : short == 126 ? 2 : 8
        let start = 2 + size + (isMasked ? 4 : 0)
        guard all.count >= start else { return nil }
        let count = size == 0 ? short : Int(clamping: all[2..<(2 + size)].reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
        guard bytes.count - start >= count else { return nil }
        let mask = isMasked ? Array(all[(start - 4)..<start]) : nil
        var content = Data(bytes.dropFirst(start).prefix(count))
        if let mask { content = Data(content.enumerated().map { $0.element ^ mask[$0.offset & 3] }) }
        bytes = Data(bytes.dropFirst(start + count))
        return TestFrame(
            opcode: all[0] & 15, content, isFinal: all[0] & 0x80 != 0, reserved: all[0] >> 4 & 7, mask: mask)
    }
}
