import Errand
public import ErrandBackoff

/// The options of a WebSocket: how it compresses, reconnects, pings and queues.
public struct WebSocketOptions: Sendable {
    /// What to do with messages that you send while a socket is reconnecting.
    public enum DisconnectedSendPolicy: Sendable, Hashable {
        /// Waits for the next connection. If more than `maximumQueue` messages wait, sending throws
        /// ``WebSocketError/Code/notConnected``.
        case wait(maximumQueue: Int)
        /// Throws ``WebSocketError/Code/notConnected``.
        case refuse
    }

    /// The subprotocols to offer, in order of preference (RFC 6455, section 1.9). Defaults to empty.
    public var subprotocols: [String]
    /// How to compress messages. Defaults to `.off`.
    public var compression: WebSocketCompression
    /// Whether and when to reconnect after the connection is lost. Defaults to `.off`.
    public var reconnection: ReconnectionPolicy
    /// What to do with messages while the socket isn't connected. By default, up to 100 messages wait. Before the first
    /// connection, messages always wait.
    public var whileDisconnected: DisconnectedSendPolicy
    /// The maximum size of a message in bytes, after decompression. A larger message ends the connection with
    /// ``WebSocketError/Code/tooLarge``. Defaults to 16 MiB.
    public var maximumMessageBytes: Int
    /// The number of unread messages above which the socket slows the server down (backpressure), at least 1. Defaults
    /// to 16.
    public var maximumQueue: Int
    /// The size in bytes of unread messages above which the socket slows the server down. Defaults to 1 MiB.
    public var maximumQueueBytes: Int
    /// How long the server may be silent before the client sends a ping. Nil turns pings off. Defaults to 20 seconds.
    public var pingInterval: Duration?
    /// How long the server may take to respond to a ping. After that, the connection counts as lost. Defaults to 20
    /// seconds.
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

    /// Options that reconnect after the connection is lost.
    public static let reconnecting = WebSocketOptions(reconnection: .standard)
}

/// Options for compressing messages with permessage-deflate (RFC 7692).
///
/// ```swift
/// WebSocketOptions(compression: .standard)
/// ```
///
/// If the server doesn't support compression, messages are sent uncompressed. The first compressed message in each
/// direction allocates a window: up to 300 KB for sending, and 40 KB for receiving. Smaller windows, or windows that
/// aren't kept between messages, need less memory and compress less.
///
/// Don't compress messages that mix secrets with data chosen by others.
public struct WebSocketCompression: Sendable, Hashable {
    /// The base-2 logarithm of the server's maximum window size, from 8 to 15. Defaults to nil: the server chooses.
    public var serverWindowBits: Int?
    /// The base-2 logarithm of the client's window size, from 8 to 15. The server can request a smaller window.
    /// Defaults to 15.
    public var clientWindowBits: Int
    /// Whether the server may refer to earlier messages. Defaults to true.
    public var serverKeepsWindow: Bool
    /// Whether the client refers to earlier messages, unless the server forbids it. Defaults to true.
    public var clientKeepsWindow: Bool
    /// The smallest message to compress, in bytes. Defaults to 128.
    public var minimumBytes: Int
    let isEnabled: Bool

    /// Creates options that offer compression, with the defaults of the properties.
    public init(
        serverWindowBits: Int? = nil, clientWindowBits: Int = 15, serverKeepsWindow: Bool = true,
        clientKeepsWindow: Bool = true, minimumBytes: Int = 128
    ) {
        self.init(true, serverWindowBits, clientWindowBits, serverKeepsWindow, clientKeepsWindow, minimumBytes)
    }

    private init(
        _ isEnabled: Bool, _ server: Int?, _ client: Int, _ serverKeeps: Bool, _ clientKeeps: Bool, _ minimum: Int
    ) {
        self.isEnabled = isEnabled
        (serverWindowBits, clientWindowBits) = (server.map { min(max($0, 8), 15) }, min(max(client, 8), 15))
        (serverKeepsWindow, clientKeepsWindow, minimumBytes) = (serverKeeps, clientKeeps, minimum)
    }

    /// No compression. The default.
    public static let off = WebSocketCompression(false, nil, 15, true, true, 0)
    /// Offers compression with the largest windows.
    public static let standard = WebSocketCompression()
}
