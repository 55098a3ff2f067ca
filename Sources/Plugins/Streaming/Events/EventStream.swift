public import Errand
public import ErrandBackoff
public import ErrandEssentials
import Synchronization

/// A sequence of the events that a server sends. The stream can reconnect when a connection ends.
///
/// ```swift
/// let feed = agent.events(GetNews())
/// for try await event in feed { print(event.name, event.data) }
/// ```
///
/// The stream connects when you start reading. It reads on demand, so a slow reader slows the server down. It ends if
/// you leave the loop, cancel its task, or call ``cancel()`` or the agent's `cancelAll`. A stream has one reader. A
/// second one gets ``StreamingError/Code/bodyAlreadyRead``.
///
/// The stream is an activity of the kind ``Errand/ActivityKind/stream``. Each of its connections is a request with its
/// own accessories.
public final class EventStream: AsyncSequence, Sendable {
    /// An event from the server.
    public typealias Element = ServerSentEvent
    /// Reading throws ``StreamingError``, or ``Errand/ErrandError`` if the transfer fails.
    public typealias Failure = any Error

    private let status: EventStreamStatus
    private let options: EventOptions
    private let begin: @Sendable () -> StreamSession

    init(_ options: EventOptions, begin: @escaping @Sendable () -> StreamSession) {
        (self.options, self.begin) = (options, begin)
        status = EventStreamStatus(options.lastEventID)
    }

    /// The connection's current state, for display.
    public var state: EventStreamState { status.state }

    /// A sequence of the current state and each new state until ``EventStreamState/closed(_:)``. A slow reader gets the
    /// latest 100 states.
    public var states: AsyncStream<EventStreamState> { status.states }

    /// The event ID from which the next connection continues. This is the ID of the last event that was received,
    /// including events without data. It's updated when all received events have been read.
    public var lastEventID: String { status.lastEventID }

    /// The response of the last connection, without its body. It's nil before the first response.
    public var response: HTTPResponse? { status.response }

    /// Ends the stream. Its reader gets a cancellation error.
    public func cancel() { status.cancel() }

    /// Ends the current connection, or the wait for the next connection, and reconnects immediately. If reconnection is
    /// off, the stream ends.
    public func reconnect() { status.reconnect() }

    /// Creates an iterator. A stream can have only one reader.
    public func makeAsyncIterator() -> Iterator { Iterator(EventReader(options, status: status, begin)) }

    /// Reads the events on the caller's actor.
    public struct Iterator: AsyncIteratorProtocol {
        @usableFromInline let reader: EventReader

        fileprivate init(_ reader: EventReader) { self.reader = reader }

        /// Returns the next event, or nil at the end of the stream.
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
    /// The stream hasn't connected yet.
    case idle
    /// The stream is connecting. `attempt` is the number of the stream's attempts so far, including this attempt.
    case connecting(attempt: Int)
    /// The stream is connected. The response's body is empty.
    case open(HTTPResponse)
    /// The stream waits until this instant of the agent's clock, and then reconnects. `after` is the error that ended
    /// the last connection, or nil if the server closed it.
    case waiting(until: ContinuousClock.Instant, after: (any Error)?)
    /// The stream has ended. The associated value is the error that the stream's reader received, or nil if the stream
    /// ended normally.
    case closed((any Error)?)
}

extension EventStreamState: CustomStringConvertible {
    /// A short text for logs.
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

/// An event from a server (HTML standard, section 9.2).
///
/// ```swift
/// for try await event in agent.events(GetNews()) {
///     print(event.name, event.data)
/// }
/// ```
public struct ServerSentEvent: Sendable, Hashable {
    /// The event's name, which the DOM calls `type`. Defaults to "message".
    public var name: String
    /// The lines of data, joined by LF.
    public var data: String
    /// The ID of this event, or of the last earlier event with an ID. It's empty if no event had an ID.
    public var id: String

    /// Creates an event, for example for a test.
    public init(name: String = "message", data: String, id: String = "") {
        (self.name, self.data, self.id) = (name, data, id)
    }

    /// Decodes the event's data as a value. The default decoder decodes JSON. Throws the decoder's error.
    public func decoded<Value: Decodable>(
        as type: Value.Type = Value.self, by decoder: any BodyDecoder = JSONDecoder()
    ) throws -> Value {
        try decoder.decode(type, from: Data(data.utf8))
    }
}

/// The options of an event stream.
///
/// ```swift
/// var eventOptions: EventOptions { .reconnecting }
/// ```
public struct EventOptions: Sendable {
    /// Whether and when to reconnect after a connection ends. Defaults to `.off`.
    public var reconnection: ReconnectionPolicy
    /// The `Last-Event-ID` header of the first connection. Set it to continue an earlier stream. Defaults to an empty
    /// string.
    public var lastEventID: String
    /// How long the server may be silent before the connection counts as lost. A comment from the server counts as a
    /// sign of life. Defaults to nil, which uses the request's `timeout`.
    public var timeout: Duration?
    /// The maximum size in bytes of one event's data, and of one line. Larger events throw
    /// ``StreamingError/Code/elementTooLong``. Defaults to 16 MiB.
    public var maximumEventBytes: Int
    /// Receives each comment that the server sends, on the reader's thread. Defaults to nil.
    public var onComment: (@Sendable (String) -> Void)?

    /// Creates options. The default arguments are the defaults of the properties.
    public init(
        reconnection: ReconnectionPolicy = .off, lastEventID: String = "", timeout: Duration? = nil,
        maximumEventBytes: Int = ElementLimit.standard, onComment: (@Sendable (String) -> Void)? = nil
    ) {
        (self.reconnection, self.lastEventID, self.timeout) = (reconnection, lastEventID, timeout)
        (self.maximumEventBytes, self.onComment) = (maximumEventBytes, onComment)
    }

    /// Options that reconnect, as browsers do.
    public static let reconnecting = EventOptions(reconnection: .standard)
}

/// A request for an event stream, with options.
///
/// ```swift
/// struct GetFeed: EventRequest {
///     var path: String { "feed" }
///     var eventOptions: EventOptions { .reconnecting }
/// }
///
/// for try await event in agent.events(GetFeed()) { print(event.name, event.data) }
/// ```
///
/// The request can use any method and have a body. With the default options, it's sent only once.
public protocol EventRequest: Request where Output == HTTPBody {
    /// The options of the stream. By default, it doesn't reconnect.
    var eventOptions: EventOptions { get }
}

extension EventRequest {
    /// The default options.
    public var eventOptions: EventOptions { EventOptions() }
}

extension Agent {
    /// Returns the events that a server sends. The request's options determine whether the stream reconnects.
    ///
    /// ```swift
    /// for try await event in agent.events(GetNews()) { print(event.name, event.data) }
    /// ```
    public func events(_ request: some EventRequest, options: CallOptions = CallOptions()) -> EventStream {
        events(request, request.eventOptions, options: options)
    }

    /// Returns the events that a server sends, with event options for this call. By default, the stream doesn't
    /// reconnect. The request can be of any type whose output is an ``Errand/HTTPBody``.
    ///
    /// ```swift
    /// for try await event in agent.events(Call(.get, "feed"), .reconnecting) { print(event.data) }
    /// ```
    public func events<R: Request>(
        _ request: R, _ eventOptions: EventOptions = EventOptions(), options: CallOptions = CallOptions()
    ) -> EventStream where R.Output == HTTPBody {
        EventStream(eventOptions) { StreamSession(request, on: self, options, unit: "events", isLive: true) }
    }
}

extension Agent {
    /// Returns the events that a server sends, decoded as values by the rules in ``EventTypes``.
    ///
    /// ```swift
    /// for try await user in agent.events(GetNews(), as: EventTypes<User>.any) { print(user.name) }
    /// ```
    public func events<Value: Sendable>(
        _ request: some EventRequest, as types: EventTypes<Value>, options: CallOptions = CallOptions()
    ) -> TypedEvents<Value> {
        TypedEvents(events(request, options: options), types)
    }

    /// Returns the events that a server sends, decoded as values, with options for this call. The request can be of any
    /// type whose output is an ``Errand/HTTPBody``.
    ///
    /// ```swift
    /// let users = agent.events(Call(.get, "feed"), .reconnecting, as: EventTypes<User>.any.ending(at: "[DONE]"))
    /// ```
    public func events<R: Request, Value: Sendable>(
        _ request: R, _ eventOptions: EventOptions = EventOptions(), as types: EventTypes<Value>,
        options: CallOptions = CallOptions()
    ) -> TypedEvents<Value> where R.Output == HTTPBody {
        TypedEvents(events(request, eventOptions, options: options), types)
    }
}
