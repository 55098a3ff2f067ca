public import Errand

/// How a WebSocket is opened, kept and limited.
///
/// ```swift
/// var socketOptions: SocketOptions { SocketOptions(subprotocols: ["chat.v2"], reconnection: .standard) }
/// ```
public struct SocketOptions: Sendable {
    /// The treatment of messages that are sent while an open socket has no connection.
    public enum AwayRule: Sendable, Hashable {
        /// They wait for the next connection, so many at most; one more throws ``WebSocketError/Code/notConnected``.
        case wait(maximumQueue: Int)
        /// They throw ``WebSocketError/Code/notConnected``.
        case refuse
    }

    /// The subprotocols that are offered, the preferred one first (RFC 6455, section 1.9); none by default.
    public var subprotocols: [String]
    /// Whether messages are compressed; off by default.
    public var compression: WebSocketCompression
    /// Whether and when another connection is made; never by default.
    public var reconnection: ReconnectionPolicy
    /// The treatment of messages while there is no connection; 100 of them wait by default. Before the first connection
    /// messages wait in either case.
    public var away: AwayRule
    /// The most bytes of a message, inflated; 16 MiB by default. More end the connection with
    /// ``WebSocketError/Code/tooLarge``.
    public var maximumMessageBytes: Int
    /// How many received messages wait for the reader before the server is held back; 16 by default, at least 1.
    public var maximumQueue: Int
    /// The maximum size of these messages in bytes; beyond it the server is held back. 1 MiB by default.
    public var maximumQueueBytes: Int
    /// The time without a byte after which the server is sent a ping; 20 seconds by default, nil for no pings.
    public var pingInterval: Duration?
    /// The time that a server has after a ping before the connection counts as lost; 20 seconds by default.
    public var pongTimeout: Duration
    /// The time that a server has to close the connection after a close frame; 5 seconds by default.
    public var closeTimeout: Duration

    /// Makes options; the defaults are those of the properties.
    public init(
        subprotocols: [String] = [], compression: WebSocketCompression = .off, reconnection: ReconnectionPolicy = .off,
        away: AwayRule = .wait(maximumQueue: 100), maximumMessageBytes: Int = 16 << 20, maximumQueue: Int = 16,
        maximumQueueBytes: Int = 1 << 20, pingInterval: Duration? = .seconds(20), pongTimeout: Duration = .seconds(20),
        closeTimeout: Duration = .seconds(5)
    ) {
        (self.subprotocols, self.compression, self.reconnection) = (subprotocols, compression, reconnection)
        (self.away, self.maximumMessageBytes) = (away, maximumMessageBytes)
        (self.maximumQueue, self.maximumQueueBytes) = (maximumQueue, maximumQueueBytes)
        (self.pingInterval, self.pongTimeout, self.closeTimeout) = (pingInterval, pongTimeout, closeTimeout)
    }

    /// Makes another connection after one that is lost.
    public static let reconnecting = SocketOptions(reconnection: .standard)
}
