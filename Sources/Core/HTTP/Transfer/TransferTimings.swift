/// When each phase of one request on the wire ended, measured from its start. Unknown times are `nil`, never 0.
public struct TransferTimings: Sendable, Hashable {
    /// When a connection was available for the request.
    public var queued: Duration?
    /// When the host name was resolved.
    public var nameLookup: Duration?
    /// When the connection was established, before TLS.
    public var connected: Duration?
    /// When the TLS handshake was complete.
    public var secured: Duration?
    /// When the system accepted the last byte of the request. The response may have started before.
    public var requestSent: Duration?
    /// When the first byte of the response was received. Informational responses (1xx) don't count.
    public var firstByte: Duration?
    /// When the last byte of the response was received.
    public var total: Duration?
    /// How many body bytes were sent on the wire.
    public var bytesSent: Int64?
    /// How many body bytes were received on the wire, before content codings were decoded.
    public var bytesReceived: Int64?
    /// The HTTP version: "1.1", "2" or "3". `nil` if unknown.
    public var httpVersion: String?
    /// Whether the connection had served another request before. `nil` if unknown.
    public var isReusedConnection: Bool?
    /// The server's or proxy's IP address, without the port. `nil` if unknown.
    public var remoteAddress: String?
    /// The number of the attempt within the activity, from 1, because several exchanges may run concurrently. Core sets
    /// it and ``hop`` before accessories receive the timings.
    public var attempt: Int?
    /// The number of the hop within the activity, from 1; see ``attempt``.
    public var hop: Int?

    /// Creates timings in which every value is unknown.
    public init() {}
}
