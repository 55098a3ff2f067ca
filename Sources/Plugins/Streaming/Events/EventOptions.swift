public import Errand

/// Options for an event stream.
///
/// ```swift
/// var eventOptions: EventOptions { .reconnecting }
/// ```
public struct EventOptions: Sendable {
    /// Whether and when to reconnect. Defaults to `.off`.
    public var reconnection: ReconnectionPolicy
    /// The `Last-Event-ID` of the first connection, to continue after an earlier stream. Defaults to an empty string.
    public var lastEventID: String
    /// The maximum time without received bytes before a connection counts as lost. A comment is enough as a heartbeat.
    /// Overrides the request's `timeout`. Defaults to `nil`: uses that timeout.
    public var timeout: Duration?
    /// The maximum size in bytes of one event's data, and of one line. Defaults to 16 MiB. Larger events throw
    /// ``StreamingError/Code/elementTooLong``.
    public var maximumEventBytes: Int
    /// Called with each comment, on the reader's thread. Defaults to `nil`: ignores comments, like the standard.
    public var onComment: (@Sendable (String) -> Void)?

    /// Creates options with the defaults of the properties.
    public init(
        reconnection: ReconnectionPolicy = .off, lastEventID: String = "", timeout: Duration? = nil,
        maximumEventBytes: Int = ElementLimit.standard, onComment: (@Sendable (String) -> Void)? = nil
    ) {
        (self.reconnection, self.lastEventID, self.timeout) = (reconnection, lastEventID, timeout)
        (self.maximumEventBytes, self.onComment) = (maximumEventBytes, onComment)
    }

    /// Reconnects like a browser.
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
    /// The stream's options. By default, the request is sent once.
    var eventOptions: EventOptions { get }
}

extension EventRequest {
    /// Options that send the request once.
    public var eventOptions: EventOptions { EventOptions() }
}
