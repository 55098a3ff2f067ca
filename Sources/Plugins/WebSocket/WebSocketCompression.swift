/// Whether and how messages are compressed, permessage-deflate (RFC 7692).
///
/// ```swift
/// SocketOptions(compression: .standard)
/// ```
///
/// A server that does not know it gets messages as they are. A window takes up to 300 KB to deflate and 40 KB to
/// inflate, from the first message that needs it on; smaller windows, and none that is kept, take less and compress
/// less. Messages that mix secrets with what others choose are better left uncompressed.
public struct WebSocketCompression: Sendable, Hashable {
    /// The logarithm of the server's window, from 8 to 15, that the server has to keep to; nil, the default, for its
    /// choice.
    public var serverWindowBits: Int?
    /// The logarithm of the client's window, from 8 to 15; 15 by default, or what the server asks for if that is less.
    public var clientWindowBits: Int
    /// Whether the server may refer to earlier messages; true by default.
    public var serverKeepsWindow: Bool
    /// Whether the client refers to earlier messages, unless the server forbids it; true by default.
    public var clientKeepsWindow: Bool
    /// Shorter messages are sent as they are; 128 bytes by default.
    public var minimumBytes: Int
    let isEnabled: Bool

    /// Offers compression; the defaults are those of the properties.
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
    /// Offered with the largest windows.
    public static let standard = WebSocketCompression()
}
