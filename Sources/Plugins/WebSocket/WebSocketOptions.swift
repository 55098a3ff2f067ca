public import Errand

/// Options for a WebSocket.
///
/// ```swift
/// var webSocketOptions: WebSocketOptions { WebSocketOptions(subprotocols: ["chat.v2"], reconnection: .standard) }
/// ```
public struct WebSocketOptions: Sendable {
    /// What to do with messages that you send while a socket is reconnecting.
    public enum DisconnectedSendPolicy: Sendable, Hashable {
        /// Wait for the next connection. If more than `maximumQueue` messages wait, sending throws
        /// ``WebSocketError/Code/notConnected``.
        case wait(maximumQueue: Int)
        /// Throw ``WebSocketError/Code/notConnected``.
        case refuse
    }

    /// The subprotocols to offer, in order of preference (RFC 6455, section 1.9). Defaults to an empty array.
    public var subprotocols: [String]
    /// How to compress messages. Defaults to `.off`.
    public var compression: WebSocketCompression
    /// Whether and when to reconnect. Defaults to `.off`.
    public var reconnection: ReconnectionPolicy
    /// What to do with messages sent while the socket isn't connected. By default, up to 100 messages wait. Before the
    /// first connection, messages always wait.
    public var whileDisconnected: DisconnectedSendPolicy
    /// The maximum size of a message in bytes, after decompression. Defaults to 16 MiB. A larger message ends the
    /// connection with ``WebSocketError/Code/tooLarge``.
    public var maximumMessageBytes: Int
    /// The maximum number of received messages that wait for the reader before backpressure slows the server down.
    /// Defaults to 16; at least 1.
    public var maximumQueue: Int
    /// The maximum size of these messages in bytes before backpressure slows the server down. Defaults to 1 MiB.
    public var maximumQueueBytes: Int
    /// The time without received bytes after which the client sends a ping. Defaults to 20 seconds. Set it to `nil` to
    /// turn pings off.
    public var pingInterval: Duration?
    /// How long the server may take to respond to a ping before the connection counts as lost. Defaults to 20 seconds.
    public var pongTimeout: Duration
    /// How long to wait for the server to close the connection after a close frame. Defaults to 5 seconds.
    public var closeTimeout: Duration

    /// Creates options with the defaults of the properties.
    public init(
        subprotocols: [String] = [], compression: WebSocketCompression = .off, reconnection: ReconnectionPolicy = .off,
        whileDisconnected: DisconnectedSendPolicy = .wait(maximumQueue: 100), maximumMessageBytes: Int = 16 << 20,
        maximumQueue: Int = 16,
        maximumQueueBytes: Int = 1 << 20, pingInterval: Duration? = .seconds(20), pongTimeout: Duration = .seconds(20),
        closeTimeout: Duration = .seconds(5)
    ) {
        (self.subprotocols, self.compression, self.reconnection) = (subprotocols, compression, reconnection)
        (self.whileDisconnected, self.maximumMessageBytes) = (whileDisconnected, maximumMessageBytes)
        (self.maximumQueue, self.maximumQueueBytes) = (maximumQueue, maximumQueueBytes)
        (self.pingInterval, self.pongTimeout, self.closeTimeout) = (pingInterval, pongTimeout, closeTimeout)
    }

    /// Reconnects after a connection is lost.
    public static let reconnecting = WebSocketOptions(reconnection: .standard)
}
