public import Errand

/// How an event stream is read and resumed.
///
/// ```swift
/// var eventOptions: EventOptions { .reconnecting }
/// ```
public struct EventOptions: Sendable {
    /// Whether and when the request is sent again; never by default.
    public var reconnection: ReconnectionPolicy
    /// The `Last-Event-ID` of the first connection, to continue where an earlier stream ended; empty by default.
    public var lastEventID: String
    /// The maximum time without a byte before a connection counts as lost; a comment is enough as a heartbeat. Nil, the
    /// default, for the request's `timeout`, which it replaces otherwise.
    public var timeout: Duration?
    /// The maximum number of bytes of one event's data, and of one line; 16 MiB by default. More throw
    /// ``StreamingError/Code/elementTooLong``.
    public var maximumEventBytes: Int
    /// Called with each comment, which the standard ignores, on the thread of the reader; none by default.
    public var onComment: (@Sendable (String) -> Void)?

    /// Makes options; the defaults are those of the properties.
    public init(
        reconnection: ReconnectionPolicy = .off, lastEventID: String = "", timeout: Duration? = nil,
        maximumEventBytes: Int = ElementLimit.standard, onComment: (@Sendable (String) -> Void)? = nil
    ) {
        (self.reconnection, self.lastEventID, self.timeout) = (reconnection, lastEventID, timeout)
        (self.maximumEventBytes, self.onComment) = (maximumEventBytes, onComment)
    }

    /// Reconnects, like a browser.
    public static let reconnecting = EventOptions(reconnection: .standard)
}

/// A request for an event stream that specifies how it is read.
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
/// It may have any method, with a body or without. Without such options a request is sent only once.
public protocol EventRequest: Request where Output == HTTPBody {
    /// How the stream is read and resumed; sent once by default.
    var eventOptions: EventOptions { get }
}

extension EventRequest {
    /// Sent once.
    public var eventOptions: EventOptions { EventOptions() }
}
