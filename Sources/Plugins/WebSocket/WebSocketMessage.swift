import Errand
public import ErrandEssentials

/// A message that a WebSocket sends or receives (RFC 6455, section 5.6).
public enum WebSocketMessage: Sendable, Hashable {
    /// A text message.
    case text(String)
    /// A binary message.
    case data(Data)

    /// The message's bytes. A text message returns its text as UTF-8 bytes.
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

    func report(_ direction: StreamMessage.Direction, upTo limit: Int) -> StreamMessage {
        switch self {
        case .text(let text):
            StreamMessage(direction, isText: true, Data(text.utf8.prefix(limit)), length: count)
        case .data(let data): StreamMessage(direction, isText: false, Data(data.prefix(limit)), length: count)
        }
    }
}

/// Converts between messages and values. Uses the request's or the agent's decoder, and the agent's encoder.
public struct WebSocketCoder: Sendable {
    private let response: HTTPResponse
    private let exchange: Exchange

    init(_ response: HTTPResponse, _ exchange: Exchange) { (self.response, self.exchange) = (response, exchange) }

    /// Decodes a message. Throws the decoder's error.
    public func decode<Value: Decodable>(_ type: Value.Type, from message: WebSocketMessage) throws -> Value {
        var http = response
        http.body = HTTPBody(message.bytes)
        do { return try http.decoded(as: type) } catch let error as ErrandError { throw error.underlying ?? error }
    }

    /// Encodes a value as a message: as text if the encoder produces JSON, and otherwise as bytes. Throws the encoder's
    /// error.
    public func encode(_ value: some Encodable & Sendable) throws -> WebSocketMessage {
        let body = try exchange.encoded(.encoded(value))
        let data = body.data ?? Data()
        guard body.contentType?.hasPrefix("application/json") == true else { return .data(data) }
        return .text(String(decoding: data, as: UTF8.self))
    }
}
