public import Errand
public import ErrandEssentials

/// The messages of a WebSocket whose opening handshake an exchange is: secrets masked, the newest within the limits of
/// the recorder.
public struct RecordedWebSocket: Sendable, Hashable {
    /// One message.
    public struct Message: Sendable, Hashable {
        /// The side that it comes from.
        public var direction: StreamMessage.Direction
        /// Whether it is text; bytes otherwise.
        public var isText: Bool
        /// The calendar date at which it was sent or received.
        public var date: Date
        /// Its content: the copy, and the size of all of it.
        public var body: RecordedBody

        /// Makes a message.
        public init(_ direction: StreamMessage.Direction, isText: Bool, date: Date, body: RecordedBody) {
            (self.direction, self.isText, self.date, self.body) = (direction, isText, date, body)
        }
    }

    /// The messages in both directions, oldest first.
    public var messages: [Message]
    /// The number of messages that were dropped before these.
    public var droppedMessages: Int

    /// Makes the messages of a socket.
    public init(messages: [Message] = [], droppedMessages: Int = 0) {
        (self.messages, self.droppedMessages) = (messages, droppedMessages)
    }

    mutating func mask(_ redactor: Redactor) {
        for index in messages.indices { messages[index].body.mask(redactor) }
    }

    /// The approximate number of bytes that it takes in memory.
    var approximateByteCount: Int { messages.reduce(0) { $0 + SocketMessages.overhead + $1.body.data.count } }
}

extension HTTPHeaders {
    /// Whether they are those of the opening handshake of a WebSocket (RFC 6455, section 4.1).
    var requestsWebSocket: Bool { self[.upgrade]?.lowercased() == "websocket" }
}
