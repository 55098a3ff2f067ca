public import Errand
public import ErrandEssentials

/// The messages of a WebSocket that an exchange opened: the newest, within the recorder's limits, with secrets
/// masked.
public struct RecordedWebSocket: Sendable, Hashable {
    /// One message.
    public struct Message: Sendable, Hashable {
        /// Whether the message was sent or received.
        public var direction: StreamMessage.Direction
        /// Whether the message is text rather than bytes.
        public var isText: Bool
        /// The calendar date at which the message was sent or received.
        public var date: Date
        /// A copy of the content, and its full size.
        public var body: RecordedBody

        /// Creates a message.
        public init(_ direction: StreamMessage.Direction, isText: Bool, date: Date, body: RecordedBody) {
            (self.direction, self.isText, self.date, self.body) = (direction, isText, date, body)
        }
    }

    /// The messages in both directions, oldest first.
    public var messages: [Message]
    /// The number of earlier messages that were dropped.
    public var droppedMessages: Int

    /// Creates the messages of a socket.
    public init(messages: [Message] = [], droppedMessages: Int = 0) {
        (self.messages, self.droppedMessages) = (messages, droppedMessages)
    }

    mutating func mask(_ redactor: Redactor) {
        for index in messages.indices { messages[index].body.mask(redactor) }
    }

    var approximateByteCount: Int { messages.reduce(0) { $0 + SocketMessages.overhead + $1.body.data.count } }
}

extension HTTPHeaders {
    /// Whether these are the headers of a WebSocket's opening handshake (RFC 6455, section 4.1).
    var requestsWebSocket: Bool { self[.upgrade]?.lowercased() == "websocket" }
}
