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
}
