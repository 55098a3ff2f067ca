import Errand
import ErrandEssentials

/// The decoder and the encoder for the messages of a socket: those of the request, or of the agent.
public struct SocketCoder: Sendable {
    private let response: HTTPResponse
    private let exchange: Exchange

    init(_ response: HTTPResponse, _ exchange: Exchange) { (self.response, self.exchange) = (response, exchange) }

    /// A value of a message. Throws the error of the decoder.
    public func decode<Value: Decodable>(_ type: Value.Type, from message: WebSocketMessage) throws -> Value {
        var http = response
        http.body = HTTPBody(message.bytes)
        do { return try http.decoded(as: type) } catch let error as ErrandError { throw error.underlying ?? error }
    }

    /// A message of a value: text if the encoder writes JSON, bytes otherwise. Throws the error of the encoder.
    public func encode(_ value: some Encodable & Sendable) throws -> WebSocketMessage {
        let body = try exchange.encoded(.encoded(value))
        let data = body.data ?? Data()
        guard body.contentType?.hasPrefix("application/json") == true else { return .data(data) }
        return .text(String(decoding: data, as: UTF8.self))
    }
}
