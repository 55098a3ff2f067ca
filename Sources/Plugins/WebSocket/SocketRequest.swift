public import Errand
public import ErrandEssentials

/// A request that opens a WebSocket, with the types of its messages.
///
/// ```swift
/// struct Chat: SocketRequest {
///     typealias Incoming = RoomEvent
///     typealias Outgoing = RoomCommand
///     let room: Int
///     var path: String { "rooms/\(room)/socket" }
/// }
///
/// let socket = agent.socket(Chat(room: 7))
/// ```
///
/// The path, the headers, the authorization and everything else are a request's; `http` and `https` stand for `ws` and
/// `wss`. Messages may be `Decodable` and `Encodable`, by the agent's decoder and encoder (JSON goes as text),
/// `String`, `Data`, or ``WebSocketMessage``, the default; any other type has a `decode` or an `encode` of its own.
public protocol SocketRequest<Incoming, Outgoing>: FilterProvidingRequest
where Output == HTTPResponse {
    /// The type of the messages that the server sends.
    associatedtype Incoming: Sendable = WebSocketMessage
    /// The type of the messages that the client sends.
    associatedtype Outgoing: Sendable = WebSocketMessage

    /// How the socket is opened, kept and limited; the defaults by default.
    var socketOptions: SocketOptions { get }
    /// Makes a value of a message.
    func decode(_ message: WebSocketMessage, by coder: SocketCoder) throws -> Incoming
    /// Makes a message of a value.
    func encode(_ message: Outgoing, by coder: SocketCoder) throws -> WebSocketMessage
}

extension SocketRequest {
    /// The defaults.
    public var socketOptions: SocketOptions { SocketOptions() }
    /// The filter that makes the request an opening handshake, which `socket(_:)` of the agent provides.
    public var requiredFilters: [any Filter] { [OpeningFilter(core: nil)] }
}

extension SocketRequest where Incoming == WebSocketMessage {
    /// The message as it is.
    public func decode(_ message: WebSocketMessage, by coder: SocketCoder) throws -> Incoming { message }
}

extension SocketRequest where Incoming == String {
    /// The text; a message of bytes throws.
    public func decode(_ message: WebSocketMessage, by coder: SocketCoder) throws -> Incoming {
        guard case .text(let text) = message else {
            throw WebSocketError(.decodingFailed, "text expected, the message is of bytes")
        }
        return text
    }
}

extension SocketRequest where Incoming == Data {
    /// The bytes, those of a text in UTF-8.
    public func decode(_ message: WebSocketMessage, by coder: SocketCoder) throws -> Incoming { message.bytes }
}

extension SocketRequest where Incoming: Decodable {
    /// Decodes the message with the decoder of the request, or of the agent.
    public func decode(_ message: WebSocketMessage, by coder: SocketCoder) throws -> Incoming {
        try coder.decode(Incoming.self, from: message)
    }
}

extension SocketRequest where Outgoing == WebSocketMessage {
    /// The message as it is.
    public func encode(_ message: Outgoing, by coder: SocketCoder) throws -> WebSocketMessage { message }
}

extension SocketRequest where Outgoing == String {
    /// A text.
    public func encode(_ message: Outgoing, by coder: SocketCoder) throws -> WebSocketMessage { .text(message) }
}

extension SocketRequest where Outgoing == Data {
    /// The bytes.
    public func encode(_ message: Outgoing, by coder: SocketCoder) throws -> WebSocketMessage { .data(message) }
}

extension SocketRequest where Outgoing: Encodable {
    /// Encodes the message with the encoder of the agent.
    public func encode(_ message: Outgoing, by coder: SocketCoder) throws -> WebSocketMessage {
        try coder.encode(message)
    }
}
