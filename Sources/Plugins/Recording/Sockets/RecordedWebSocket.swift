public import Errand
public import ErrandEssentials
import ErrandRedaction

/// The newest messages of a WebSocket, up to the recorder's limits. Secrets in them are masked.
public struct RecordedWebSocket: Sendable, Hashable {
    /// A WebSocket message.
    public struct Message: Sendable, Hashable {
        /// Whether the message was sent or received.
        public var direction: StreamMessage.Direction
        /// Whether the message is text. If it's false, the message is binary.
        public var isText: Bool
        /// The time when the message was sent or received.
        public var date: Date
        /// A copy of the message's content.
        public var body: RecordedBody

        /// Creates a message, for example for a test.
        public init(_ direction: StreamMessage.Direction, isText: Bool, date: Date, body: RecordedBody) {
            (self.direction, self.isText, self.date, self.body) = (direction, isText, date, body)
        }
    }

    /// The messages in both directions, oldest first.
    public var messages: [Message]
    /// The number of earlier messages that were dropped.
    public var droppedMessages: Int

    /// Creates the messages of a socket. By default, the list is empty.
    public init(messages: [Message] = [], droppedMessages: Int = 0) {
        (self.messages, self.droppedMessages) = (messages, droppedMessages)
    }

    mutating func mask(_ redactor: Redactor) {
        for index in messages.indices { messages[index].body.mask(redactor) }
    }

    var approximateByteCount: Int { messages.reduce(0) { $0 + SocketMessages.overhead + $1.body.data.count } }
}

extension HTTPHeaders {
    /// Whether these fields ask for a WebSocket (RFC 6455, section 4.1).
    var requestsWebSocket: Bool { self[.upgrade]?.lowercased() == "websocket" }
}

struct SocketMessages: Sendable {
    private struct Message: Sendable {
        let message: StreamMessage
        let date: Date
    }

    /// The memory in bytes that a message uses in addition to its copy.
    static let overhead = 200

    private var kept: BoundedHistory<Message>
    private let maximumBytes: Int

    init(limit: Int, maximumBytes: Int) {
        kept = BoundedHistory(limit: limit, costLimit: maximumBytes)
        self.maximumBytes = maximumBytes
    }

    mutating func add(_ message: StreamMessage, at date: Date, limit: Int) {
        var message = message
        // The copy may be too long, because another accessory may have requested more bytes. It's cut, because a single
        // message mustn't exceed the memory limit.
        message.data = message.data.prefix(max(0, min(limit, maximumBytes - Self.overhead)))
        kept.append(Message(message: message, date: date), cost: Self.overhead + message.data.count)
    }

    var approximateByteCount: Int { kept.cost }

    func masked(_ redactor: inout Redactor) -> RecordedWebSocket {
        RecordedWebSocket(
            messages: kept.all.map { kept in
                let message = kept.message
                let body = RecordedBody(masking: message, by: &redactor)
                return RecordedWebSocket.Message(
                    message.direction, isText: message.isText, date: kept.date, body: body)
            }, droppedMessages: kept.dropped)
    }
}

extension RecordedBody {
    /// Creates a masked copy of a WebSocket message.
    ///
    /// A message doesn't have a media type. Therefore, secrets are found by their names in JSON, including JSON after
    /// Socket.IO's prefix, and in header lines such as STOMP's.
    ///
    /// - Parameters:
    ///   - message: The message, or its beginning.
    ///   - redactor: Masks the secrets, and remembers them.
    public init(masking message: StreamMessage, by redactor: inout Redactor) {
        let data = message.data
        self.init(Data(), length: Int64(message.length), copiedBytes: data.count)
        let start = message.isText ? Self.jsonStart(in: data) : nil
        let head = data[..<(start ?? data.startIndex)]
        switch redactor.body(Data(data[head.endIndex...]), contentType: nil) {
        case .shown(let bytes): self.data = head + bytes
        case .omitted(let reason): omission = "left out: \(reason)"
        }
        if message.isText, start == nil { self.data = redactor.headMasked(self.data) }
    }

    private static func jsonStart(in data: Data) -> Data.Index? {
        let word = data.prefix(256).prefix { $0 > 0x20 && $0 != UInt8(ascii: "{") && $0 != UInt8(ascii: "[") }
        let isBegun = word.endIndex < data.endIndex && data[word.endIndex] > 0x20 && word.count < 256
        return isBegun ? word.endIndex : nil
    }
}

extension Redactor {
    /// Masks secrets in a message's header lines, as STOMP has them. Header lines are the lines between a first line
    /// without a colon and an empty line. Returns other messages unchanged.
    fileprivate mutating func headMasked(_ data: Data) -> Data {
        let lineFeed = UInt8(ascii: "\n")
        guard let end = data.firstIndex(of: lineFeed), !data[..<end].contains(UInt8(ascii: ":")) else { return data }
        var result = Data(data[...end])
        var rest = data[data.index(after: end)...]
        while let first = rest.first, first != lineFeed, first != UInt8(ascii: "\r") {
            let line = rest.prefix { $0 != lineFeed && $0 != UInt8(ascii: "\r") }
            rest = rest[line.endIndex...]
            if let colon = line.firstIndex(of: UInt8(ascii: ":")),
                redaction.isSecret(String(decoding: line[..<colon], as: UTF8.self))
            {
                let value = line[line.index(after: colon)...].drop { $0 == UInt8(ascii: " ") }
                remember(String(decoding: value, as: UTF8.self))
                result += line[...colon] + Data(Redaction.mask.utf8)
            } else {
                result += line
            }
            let ending = rest.prefix { $0 == UInt8(ascii: "\r") }.count + 1
            result += rest.prefix(ending)
            rest = rest.dropFirst(ending)
        }
        return result + rest
    }
}

/// The messages of a running socket. This is a class, so an activity without a socket needs memory only for a
/// reference.
final class SocketDraft: Sendable {
    let handshake: ExchangeDraft
    let ending: EndedExchange.Ending

    init(handshake: ExchangeDraft, ending: EndedExchange.Ending) {
        (self.handshake, self.ending) = (handshake, ending)
    }
}
