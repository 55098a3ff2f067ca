import Errand
public import ErrandEssentials

/// A message of a WebSocket (RFC 6455, section 5.6).
public enum WebSocketMessage: Sendable, Hashable {
    /// UTF-8 text.
    case text(String)
    /// Bytes.
    case data(Data)

    /// The bytes of the text or data.
    public var bytes: Data {
        switch self {
        case .text(let text): Data(text.utf8)
        case .data(let data): data
        }
    }

    var count: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .data(let data): data.count
        }
    }

    /// Returns the message for accessories, with up to `limit` bytes of its content.
    func report(_ direction: StreamMessage.Direction, upTo limit: Int) -> StreamMessage {
        switch self {
        case .text(let text):
            StreamMessage(direction, isText: true, Data(text.utf8.prefix(limit)), length: count)
        case .data(let data): StreamMessage(direction, isText: false, Data(data.prefix(limit)), length: count)
        }
    }
}
