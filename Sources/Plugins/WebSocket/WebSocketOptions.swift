import Errand
public import ErrandBackoff

/// The options of a WebSocket: how it compresses, reconnects, pings and queues.
public struct WebSocketOptions: Sendable {
    /// Determines whether messages that you send while a socket is reconnecting wait or fail.
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
    /// Whether messages wait while the socket isn't connected. By default, up to 100 messages wait. Before the first
    /// connection, messages always wait.
    public var whileDisconnected: DisconnectedSendPolicy
    /// The maximum size of a message in bytes, after decompression. If a message is larger, the connection ends with
    /// ``WebSocketError/Code/tooLarge``. Defaults to 16 MiB.
    public var maximumMessageBytes: Int
    /// The maximum number of received messages that you haven't read yet, at least 1. If there are more, the socket
    /// slows the server down (backpressure). Defaults to 16.
    public var maximumQueue: Int
    /// The maximum size in bytes of received messages that you haven't read yet. If there are more bytes, the socket
    /// slows the server down. Defaults to 1 MiB.
    public var maximumQueueBytes: Int
    /// How long the server may be silent before the client sends a ping. Nil turns pings off. Defaults to 20 seconds.
    public var pingInterval: Duration?
    /// How long the server may take to respond to a ping before the connection counts as lost. Defaults to 20 seconds.
    public var pongTimeout: Duration
    /// How long to wait for the server to close the connection after the client sent a close frame. Defaults to 5
    /// seconds.
    public var closeTimeout: Duration

    /// Creates options. The default arguments are the defaults of the properties.
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

    /// Options that reconnect after a connection is lost. All other options have their defaults.
    public static let reconnecting = WebSocketOptions(reconnection: .standard)
}

/// Options for compressing messages with permessage-deflate (RFC 7692).
///
/// ```swift
/// WebSocketOptions(compression: .standard)
/// ```
///
/// If the server doesn't support compression, messages are sent uncompressed.
///
/// Compression needs memory. The first compressed message in each direction allocates a window: up to 300 KB for
/// sending, and 40 KB for receiving. You can reduce this with smaller windows, or with windows that aren't kept between
/// messages, but messages are then compressed less.
///
/// Don't compress messages that contain both a secret and data that other people chose. An attacker could guess the
/// secret from the size of such messages.
public struct WebSocketCompression: Sendable, Hashable {
    /// The base-2 logarithm of the server's maximum window size, from 8 to 15. Defaults to nil: the server chooses.
    public var serverWindowBits: Int?
    /// The base-2 logarithm of the client's window size, from 8 to 15. The server can ask for a smaller window.
    /// Defaults to 15.
    public var clientWindowBits: Int
    /// Whether the server may compress a message by referring to earlier messages. Defaults to true.
    public var serverKeepsWindow: Bool
    /// Whether the client compresses a message by referring to earlier messages. It doesn't if the server forbids it.
    /// Defaults to true.
    public var clientKeepsWindow: Bool
    /// The size in bytes of the smallest message that is compressed. Defaults to 128.
    public var minimumBytes: Int
    let isEnabled: Bool

    /// Creates options that offer compression. The default arguments are the defaults of the properties.
    public init(
        serverWindowBits: Int? = nil, clientWindowBits: Int = 15, serverKeepsWindow: Bool = true,
        clientKeepsWindow: Bool = true, minimumBytes: Int = 128
    ) {
        self.init(
            isEnabled: true, serverWindowBits: serverWindowBits, clientWindowBits: clientWindowBits,
            serverKeepsWindow: serverKeepsWindow, clientKeepsWindow: clientKeepsWindow, minimumBytes: minimumBytes)
    }

    private init(
        isEnabled: Bool, serverWindowBits server: Int?, clientWindowBits client: Int,
        serverKeepsWindow serverKeeps: Bool, clientKeepsWindow clientKeeps: Bool, minimumBytes minimum: Int
    ) {
        self.isEnabled = isEnabled
        (serverWindowBits, clientWindowBits) = (server.map { min(max($0, 8), 15) }, min(max(client, 8), 15))
        (serverKeepsWindow, clientKeepsWindow, minimumBytes) = (serverKeeps, clientKeeps, minimum)
    }

    /// Turns compression off. This is the default.
    public static let off = WebSocketCompression(
        isEnabled: false, serverWindowBits: nil, clientWindowBits: 15, serverKeepsWindow: true, clientKeepsWindow: true,
        minimumBytes: 0)
    /// Offers compression, with the largest windows.
    public static let standard = WebSocketCompression()
}
