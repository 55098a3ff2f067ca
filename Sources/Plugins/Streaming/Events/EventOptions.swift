public import Errand

/// How an event stream is read and resumed.
///
/// ```swift
/// var eventOptions: EventOptions { .reconnecting }
/// ```
public struct EventOptions: Sendable {
    /// Whether and when the request is sent again; never by default.
    public var reconnection: Reconnection
    /// Sent as `Last-Event-ID` with the first connection, to go on where an earlier stream ended; empty by default.
    public var lastEventID: String
    /// The longest silence before a connection counts as lost: any byte ends it, so a comment is a heartbeat. The
    /// request's `timeout` by default (nil), in the place of which it stands.
    public var silence: Duration?
    /// The most bytes of one event's data, and of one line; 16 MiB by default. More throws
    /// ``StreamingError/Code/elementTooLong``.
    public var maximumEventBytes: Int
    /// Called with each comment, which the standard ignores, on the thread of the reader; none by default.
    public var onComment: (@Sendable (String) -> Void)?

    /// Makes options; the defaults are those of the properties.
    public init(
        reconnection: Reconnection = .never, lastEventID: String = "", silence: Duration? = nil,
        maximumEventBytes: Int = ElementLimit.standard, onComment: (@Sendable (String) -> Void)? = nil
    ) {
        (self.reconnection, self.lastEventID, self.silence) = (reconnection, lastEventID, silence)
        (self.maximumEventBytes, self.onComment) = (maximumEventBytes, onComment)
    }

    /// Connects again, as a browser does.
    public static let reconnecting = EventOptions(reconnection: .standard)
}

/// A request for an event stream that knows how it is read.
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
/// Any method, with a body or without. Only a request that says so is sent again.
public protocol EventRequest: Request where Output == HTTPBody {
    /// How the stream is read and resumed; sent once by default.
    var eventOptions: EventOptions { get }
}

extension EventRequest {
    /// Sent once.
    public var eventOptions: EventOptions { EventOptions() }
}
