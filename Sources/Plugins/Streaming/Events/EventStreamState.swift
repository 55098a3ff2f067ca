public import Errand

/// The state of an event stream. Cases may be added: write a `default`.
public enum EventStreamState: Sendable {
    /// Reading has not begun.
    case idle
    /// A connection is being made, the `attempt`th of the stream, from 1.
    case connecting(attempt: Int)
    /// Events arrive. The response has no body.
    case open(HTTPResponse)
    /// The next connection is made at this instant, by the agent's clock; with the error that ended the last one, or
    /// nil if the server closed it.
    case waiting(until: ContinuousClock.Instant, after: (any Error)?)
    /// The stream has ended, with the error that its reader has received.
    case closed((any Error)?)
}
