/// Options for message compression with permessage-deflate (RFC 7692).
///
/// ```swift
/// WebSocketOptions(compression: .standard)
/// ```
///
/// If the server doesn't support compression, messages are sent uncompressed. The first compressed message in each
/// direction allocates a window: up to 300 KB for sending, 40 KB for receiving. Smaller windows, or windows that aren't
/// kept between messages, need less memory and compress less.
///
/// Don't compress messages that mix secrets with data chosen by others.
public struct WebSocketCompression: Sendable, Hashable {
    /// The base-2 logarithm of the server's maximum window size, from 8 to 15. Defaults to `nil`: the server chooses.
    public var serverWindowBits: Int?
    /// The base-2 logarithm of the client's window size, from 8 to 15. Defaults to 15. The server can request a smaller
    /// window.
    public var clientWindowBits: Int
    /// Whether the server may refer to earlier messages. Defaults to `true`.
    public var serverKeepsWindow: Bool
    /// Whether the client refers to earlier messages, unless the server forbids it. Defaults to `true`.
    public var clientKeepsWindow: Bool
    /// The minimum size of compressed messages in bytes. Defaults to 128.
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

    /// No compression.
    public static let off = WebSocketCompression(false, nil, 15, true, true, 0)
    /// Offers compression with the largest windows.
    public static let standard = WebSocketCompression()
}
