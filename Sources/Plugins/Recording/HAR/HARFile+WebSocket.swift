import Errand
import ErrandEssentials

extension HARFile {
    /// A message of a WebSocket, as Chromium writes it.
    public struct WebSocketMessage: Codable, Sendable, Hashable {
        /// "send" or "receive".
        public var type: String
        /// When it was sent or received, in seconds since 1970.
        public var time: Double
        /// 1 for text, 2 for bytes.
        public var opcode: Int
        /// The text, or bytes in Base64; secrets masked, and empty if bodies are not recorded.
        public var data: String
        /// Bytes of the whole message, where `data` are not all of it; `_size` in the file, a field of Errand's.
        public var size: Int64?

        /// Makes a message.
        public init(type: String, time: Double, opcode: Int, data: String, size: Int64? = nil) {
            (self.type, self.time, self.opcode, self.data, self.size) = (type, time, opcode, data, size)
        }

        private enum CodingKeys: String, CodingKey {
            case type, time, opcode, data
            case size = "_size"
        }
    }
}

extension HARFile.WebSocketMessage {
    init(_ message: RecordedWebSocket.Message) {
        let body = message.body
        let isWhole = body.omission == nil && !body.isTruncated
        self.init(
            type: message.direction == .sent ? "send" : "receive", time: message.date.timeIntervalSince1970,
            opcode: message.isText ? 1 : 2,
            data: message.isText
                ? body.text ?? String(decoding: body.data, as: UTF8.self) : body.data.base64EncodedString(),
            size: isWhole ? nil : body.length)
    }
}

extension RecordedExchange {
    /// Whether it is the opening handshake of a WebSocket, accepted or not.
    var isWebSocket: Bool { webSocket != nil || request.headers.requestsWebSocket }

    /// How many messages the recorder has dropped, in words; nil for none.
    var droppedMessages: String? {
        guard let count = webSocket?.droppedMessages, count > 0 else { return nil }
        return count == 1 ? "the first message was dropped" : "the first \(count) messages were dropped"
    }
}
