public import Errand
import Synchronization

/// The events that a server sends without an end of their own, over as many connections as needed.
///
/// ```swift
/// let feed = agent.events(GetNews())
/// for try await event in feed { print(event.name, event.data) }
/// ```
///
/// Connecting begins with reading. The stream pulls: a slow reader slows down the server. Leaving the loop, cancelling
/// its task, ``cancel()`` and `cancelAll` of the agent end it within milliseconds. A stream has one reader: a second
/// one gets ``StreamingError/Code/bodyAlreadyRead``.
///
/// Each connection is a request with its accessories; the stream is an activity of the kind
/// ``Errand/ActivityKind/stream`` around them.
public final class EventStream: AsyncSequence, Sendable {
    /// The type of an event.
    public typealias Element = ServerSentEvent
    /// ``StreamingError``, or ``Errand/ErrandError`` for a failed transfer.
    public typealias Failure = any Error

    private let status: EventStreamStatus
    private let options: EventOptions
    private let begin: @Sendable () -> StreamSession

    init(_ options: EventOptions, begin: @escaping @Sendable () -> StreamSession) {
        (self.options, self.begin) = (options, begin)
        status = EventStreamStatus(options.lastEventID)
    }

    /// The current state.
    public var state: EventStreamState { status.state }

    /// Each state from now on, the current one first; ends after ``EventStreamState/closed(_:)``. A slow reader
    /// receives the newest 100.
    public var states: AsyncStream<EventStreamState> { status.states }

    /// The id with which the next connection begins: that of the last event that the reader has received, or of an
    /// empty one after it.
    public var lastEventID: String { status.lastEventID }

    /// The response of the last connection, without its body; nil before the first.
    public var response: HTTPResponse? { status.response }

    /// Ends the stream; its reader gets a cancellation.
    public func cancel() { status.cancel() }

    /// Ends the connection, or the wait for the next one, and connects again at once if the stream reconnects at all.
    public func reconnect() { status.reconnect() }

    /// Begins to read.
    public func makeAsyncIterator() -> Iterator { Iterator(EventReader(options, status, begin)) }

    /// Pulls the events, on the caller's own actor.
    public struct Iterator: AsyncIteratorProtocol {
        @usableFromInline let reader: EventReader

        fileprivate init(_ reader: EventReader) { self.reader = reader }

        /// The next event; nil at the end of the stream.
        @inlinable
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> ServerSentEvent?
        {
            if let event = try reader.ready() { return event }
            return try await reader.next(isolation: actor)
        }
    }
}

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
