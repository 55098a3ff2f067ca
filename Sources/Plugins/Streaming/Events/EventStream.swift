public import Errand
import Synchronization

/// The events that a server sends, over as many connections as needed.
///
/// ```swift
/// let feed = agent.events(GetNews())
/// for try await event in feed { print(event.name, event.data) }
/// ```
///
/// The stream connects when you start reading. It reads on demand, so a slow reader slows the server down. It ends
/// within milliseconds if you leave the loop, cancel its task, or call ``cancel()`` or the agent's `cancelAll`. A
/// stream has one reader; a second one gets ``StreamingError/Code/bodyAlreadyRead``.
///
/// The stream is an activity of the kind ``Errand/ActivityKind/stream``. Each of its connections is a request with its
/// own accessories.
public final class EventStream: AsyncSequence, Sendable {
    /// An event of the stream.
    public typealias Element = ServerSentEvent
    /// ``StreamingError``, or ``Errand/ErrandError`` if the transfer fails.
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

    /// The current state, then each new state until ``EventStreamState/closed(_:)``. A slow reader gets the latest 100.
    public var states: AsyncStream<EventStreamState> { status.states }

    /// The ID from which the next connection continues: the ID of the last event, including events without data.
    /// Updated when all received events have been read.
    public var lastEventID: String { status.lastEventID }

    /// The response of the last connection, without its body, or `nil` before the first.
    public var response: HTTPResponse? { status.response }

    /// Ends the stream. Its reader gets a cancellation error.
    public func cancel() { status.cancel() }

    /// Ends the connection, or the wait for the next one, and reconnects immediately. Requires reconnection to be on.
    public func reconnect() { status.reconnect() }

    /// Starts reading.
    public func makeAsyncIterator() -> Iterator { Iterator(EventReader(options, status, begin)) }

    /// Reads events on the caller's actor.
    public struct Iterator: AsyncIteratorProtocol {
        @usableFromInline let reader: EventReader

        fileprivate init(_ reader: EventReader) { self.reader = reader }

        /// Returns the next event, or `nil` at the end of the stream.
        @inlinable
        public mutating func next(isolation actor: isolated (any Actor)? = #isolation) async throws -> ServerSentEvent?
        {
            if let event = try reader.ready() { return event }
            return try await reader.next(isolation: actor)
        }
    }
}

/// The state of an event stream. More cases may be added, so write a `default`.
public enum EventStreamState: Sendable {
    /// You haven't started reading yet.
    case idle
    /// The stream is connecting. `attempt` counts all its attempts, from 1.
    case connecting(attempt: Int)
    /// The stream is connected. The response's body is empty.
    case open(HTTPResponse)
    /// The stream reconnects at this instant of the agent's clock. `after` is the error that ended the last connection,
    /// or `nil` if the server closed it.
    case waiting(until: ContinuousClock.Instant, after: (any Error)?)
    /// The stream has ended, with the error that its reader received, if any.
    case closed((any Error)?)
}

extension EventStreamState: CustomStringConvertible {
    /// The state in a few words, for logs.
    public var description: String {
        switch self {
        case .idle: "idle"
        case .connecting(let attempt): "connecting, attempt \(attempt)"
        case .open(let response): "open: \(response)"
        case .waiting(_, let error): "waiting to reconnect" + (error.map { " after \($0)" } ?? "")
        case .closed(let error): error.map { "closed: \($0)" } ?? "closed"
        }
    }
}
