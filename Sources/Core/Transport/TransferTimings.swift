/// When the parts of one exchange on the wire ended, counted from its start; what is not known is nil, never 0.
public struct TransferTimings: Sendable, Hashable {
    /// Waited for a connection.
    public var queued: Duration?
    /// The name of the host was resolved.
    public var nameLookup: Duration?
    /// The connection was made, without TLS.
    public var connected: Duration?
    /// The TLS handshake was done.
    public var secured: Duration?
    /// The first byte of the final response was received.
    public var firstByte: Duration?
    /// The last byte was received.
    public var total: Duration?
    /// Body bytes on the wire, before decoding.
    public var bytesSent: Int64?
    /// Body bytes received on the wire, before decoding.
    public var bytesReceived: Int64?
    /// "1.1", "2", "3".
    public var httpVersion: String?
    /// Whether the connection had served a request before.
    public var isReusedConnection: Bool?
    /// The address of the peer, without its port.
    public var remoteAddress: String?

    /// Nothing known.
    public init() {}
}

/// Body bytes so far in each direction; totals are nil while nobody knows them.
public struct TransferProgress: Sendable, Hashable {
    /// Body bytes sent.
    public var sent: Int64
    /// All body bytes to send; nil where that is not known.
    public var totalToSend: Int64?
    /// Body bytes received.
    public var received: Int64
    /// All body bytes to receive; nil where that is not known.
    public var totalToReceive: Int64?
    /// How much of a composite is done, from 0 to 1; nil if nobody tells, as for a request.
    public var fraction: Double?

    /// Makes a progress; nothing sent or received by default.
    public init(
        sent: Int64 = 0, totalToSend: Int64? = nil, received: Int64 = 0, totalToReceive: Int64? = nil,
        fraction: Double? = nil
    ) {
        self.sent = sent
        self.totalToSend = totalToSend
        self.received = received
        self.totalToReceive = totalToReceive
        self.fraction = fraction
    }
}
