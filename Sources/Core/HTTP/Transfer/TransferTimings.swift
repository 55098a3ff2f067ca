/// The times when the phases of one exchange on the wire ended, measured from its start. Unknown times are `nil`, never
/// 0.
public struct TransferTimings: Sendable, Hashable {
    /// A connection was available.
    public var queued: Duration?
    /// The host name was resolved.
    public var nameLookup: Duration?
    /// The connection was established, before TLS.
    public var connected: Duration?
    /// The TLS handshake was complete.
    public var secured: Duration?
    /// The system accepted the last byte of the request. The response may have started before.
    public var requestSent: Duration?
    /// The first byte of the response was received. Informational responses (1xx) don't count.
    public var firstByte: Duration?
    /// The last byte was received.
    public var total: Duration?
    /// The number of body bytes sent on the wire.
    public var bytesSent: Int64?
    /// The number of body bytes received on the wire, before decoding.
    public var bytesReceived: Int64?
    /// The HTTP version: "1.1", "2" or "3".
    public var httpVersion: String?
    /// Whether the connection had served a request before.
    public var isReusedConnection: Bool?
    /// The peer's address, without the port.
    public var remoteAddress: String?
    /// The number of the attempt within the activity, from 1, because several exchanges may run concurrently. Core sets
    /// it and ``hop`` before accessories receive the timings.
    public var attempt: Int?
    /// The number of the hop within the activity, from 1; see ``attempt``.
    public var hop: Int?

    /// Creates timings that are all unknown.
    public init() {}
}

extension TransferProgress {
    /// The progress before a body is sent.
    package init(sending body: RequestBody) { self.init(totalToSend: body.isNone ? nil : body.length) }

    package var isBegun: Bool { sent > 0 || received > 0 }

    /// Returns the progress with no number lower than in `before`, if both belong to one transfer.
    package func following(_ before: TransferProgress) -> TransferProgress {
        guard before.transfer == transfer else { return self }
        var next = self
        (next.sent, next.received) = (max(sent, before.sent), max(received, before.received))
        if let done = before.fraction, let now = next.fraction, now < done { next.fraction = done }
        return next
    }
}
