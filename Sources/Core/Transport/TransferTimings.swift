/// When the parts of one exchange on the wire ended, counted from its start; what is not known is nil, never 0.
public struct TransferTimings: Sendable, Hashable {
    /// Waited for a connection.
    public var queued: Duration?
    public var nameLookup: Duration?
    public var connected: Duration?
    public var secured: Duration?
    public var firstByte: Duration?
    public var total: Duration?
    /// Body bytes on the wire, before decoding.
    public var bytesSent: Int64?
    public var bytesReceived: Int64?
    /// "1.1", "2", "3".
    public var httpVersion: String?
    public var isReusedConnection: Bool?
    public var remoteAddress: String?

    public init() {}
}

/// Body bytes so far in each direction; totals are nil while nobody knows them.
public struct TransferProgress: Sendable, Hashable {
    public var sent: Int64
    public var totalToSend: Int64?
    public var received: Int64
    public var totalToReceive: Int64?
    /// How much of a composite is done, from 0 to 1; nil if nobody tells, as for a request.
    public var fraction: Double?

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
