public import Errand

/// The state of a WebSocket, for display. More cases may be added, so write a `default`.
public enum WebSocketState: Sendable {
    /// The socket hasn't connected yet.
    case idle
    /// The socket is connecting. `attempt` is the number of the socket's attempts so far, including this attempt.
    case connecting(attempt: Int)
    /// The socket is connected. The associated value is the response to the opening handshake.
    case open(HTTPResponse)
    /// The socket waits until this instant of the agent's clock, and then reconnects. `after` is the error that ended
    /// the last connection.
    case waiting(until: ContinuousClock.Instant, after: any Error)
    /// The socket has ended. The associated value is the error that the socket's reader receives, or nil if the socket
    /// was closed normally.
    case closed((any Error)?)
}

extension WebSocketState: CustomStringConvertible {
    /// A short text for logs.
    public var description: String {
        switch self {
        case .idle: "idle"
        case .connecting(let attempt): "connecting, attempt \(attempt)"
        case .open(let response): "open: \(response)"
        case .waiting(_, let error): "waiting to reconnect after \(error)"
        case .closed(let error): error.map { "closed: \($0)" } ?? "closed"
        }
    }
}
