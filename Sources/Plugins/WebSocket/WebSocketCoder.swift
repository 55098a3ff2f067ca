import Errand
import ErrandEssentials

/// Decodes a socket's messages with the request's or agent's decoder, and encodes with the agent's encoder.
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

    /// Encodes a value: as text if the encoder produces JSON, and as bytes otherwise. Throws the encoder's error.
    public func encode(_ value: some Encodable & Sendable) throws -> WebSocketMessage {
        let body = try exchange.encoded(.encoded(value))
        let data = body.data ?? Data()
        guard body.contentType?.hasPrefix("application/json") == true else { return .data(data) }
        return .text(String(decoding: data, as: UTF8.self))
    }
}
