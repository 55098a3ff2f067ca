public import Errand

/// The state of a WebSocket, for a screen. Cases may be added: write a `default`.
public enum WebSocketState: Sendable {
    /// Nothing was read or sent yet.
    case idle
    /// A connection is being made, the `attempt`th of the socket, from 1.
    case connecting(attempt: Int)
    /// Messages go in both directions. The response is that to the opening handshake.
    case open(HTTPResponse)
    /// The next connection is made at this instant, by the agent's clock; with the error that ended the last one.
    case waiting(until: ContinuousClock.Instant, after: any Error)
    /// The socket has ended, with the error that its reader receives; nil if it was closed as it should be.
    case closed((any Error)?)
}
