public import Errand

/// The state of a WebSocket, for display. More cases may be added, so write a `default`.
public enum WebSocketState: Sendable {
    /// The socket hasn't connected yet.
    case idle
    /// The socket is connecting. `attempt` counts all attempts, from 1.
    case connecting(attempt: Int)
    /// The socket is connected. Contains the response to the opening handshake.
    case open(HTTPResponse)
    /// The socket reconnects at this instant of the agent's clock. `after` is the error that ended the last connection.
    case waiting(until: ContinuousClock.Instant, after: any Error)
    /// The socket has ended, with the error that its reader receives. Nil if it was closed normally.
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
