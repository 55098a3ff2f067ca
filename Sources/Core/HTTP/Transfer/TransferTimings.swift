/// The times at which the phases of one request on the wire ended, measured from the request's start. Unknown times are
/// `nil`.
public struct TransferTimings: Sendable, Hashable {
    /// When a connection was available.
    public var queued: Duration?
    /// When the host name was resolved.
    public var nameLookup: Duration?
    /// When the connection was established, before TLS.
    public var connected: Duration?
    /// When the TLS handshake was complete.
    public var secured: Duration?
    /// When the system accepted the request's last byte. The response may have started before.
    public var requestSent: Duration?
    /// When the response's first byte was received, ignoring informational responses (1xx).
    public var firstByte: Duration?
    /// When the response's last byte was received.
    public var total: Duration?
    /// How many body bytes were sent on the wire.
    public var bytesSent: Int64?
    /// How many body bytes were received on the wire, before content codings were decoded.
    public var bytesReceived: Int64?
    /// The HTTP version: "1.1", "2" or "3".
    public var httpVersion: String?
    /// Whether the connection had served another request before.
    public var isReusedConnection: Bool?
    /// The server's or proxy's IP address, without the port.
    public var remoteAddress: String?
    /// The position of the request within its call. Core sets it before accessories receive the timings.
    public var position: TransferPosition?

    /// Creates timings with unknown values.
    public init() {}
}
