import Errand
import ErrandWebSocket

/// A socket of texts that sends no pings and doesn't wait for the server's close frame.
struct QuietLines: WebSocketRequest {
    typealias Incoming = String
    typealias Outgoing = String
    var path = "socket"
    var webSocketOptions = WebSocketOptions(pingInterval: nil, closeTimeout: .zero)
}
