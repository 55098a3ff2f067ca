import Errand
public import ErrandEssentials

/// A message of a WebSocket (RFC 6455, section 5.6).
public enum WebSocketMessage: Sendable, Hashable {
    /// Text in UTF-8.
    case text(String)
    /// Bytes.
    case data(Data)

    /// The bytes of either.
    public var bytes: Data {
        switch self {
        case .text(let text): Data(text.utf8)
        case .data(let data): data
        }
    }

    /// The number of bytes.
    var count: Int {
        switch self {
        case .text(let text): text.utf8.count
        case .data(let data): data.count
        }
    }

    /// The message for accessories, with so many bytes of it at most.
    func report(_ direction: StreamMessage.Direction, upTo limit: Int) -> StreamMessage {
        switch self {
        case .text(let text):
            StreamMessage(direction, isText: true, Data(text.utf8.prefix(limit)), length: count)
        case .data(let data): StreamMessage(direction, isText: false, Data(data.prefix(limit)), length: count)
        }
    }
}
