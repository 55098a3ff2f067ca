import Errand
import ErrandWebSocket

/// Texts, without pings of its own, and without a wait for the close frame of a server.
struct QuietLines: WebSocketRequest {
    typealias Incoming = String
    typealias Outgoing = String
    var path = "socket"
    var webSocketOptions = WebSocketOptions(pingInterval: nil, closeTimeout: .zero)
}
