/// The times at which the parts of one exchange on the wire ended, counted from its start; unknown ones are nil, never
/// 0.
public struct TransferTimings: Sendable, Hashable {
    /// A connection was available.
    public var queued: Duration?
    /// The name of the host was resolved.
    public var nameLookup: Duration?
    /// The connection was made, without TLS.
    public var connected: Duration?
    /// The TLS handshake was completed.
    public var secured: Duration?
    /// The last byte of the request was handed to the system; the response may have begun before.
    public var requestSent: Duration?
    /// The first byte of the response was received; informational responses (1xx) do not count.
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
    /// The number of the attempt and of the hop within the activity, both from 1, since several exchanges may run at
    /// once; Core sets them on the way to accessories.
    public var attempt: Int?
    /// See ``attempt``.
    public var hop: Int?

    /// Makes timings of which nothing is known.
    public init() {}
}

extension TransferProgress {
    /// The progress before a body is sent.
    package init(sending body: RequestBody) { self.init(totalToSend: body.isNone ? nil : body.length) }

    /// Whether bytes were transferred in either direction.
    package var isBegun: Bool { sent > 0 || received > 0 }

    /// The same progress, with each number of `before` that is larger, if both belong to one transfer.
    package func following(_ before: TransferProgress) -> TransferProgress {
        guard before.transfer == transfer else { return self }
        var next = self
        (next.sent, next.received) = (max(sent, before.sent), max(received, before.received))
        if let done = before.fraction, let now = next.fraction, now < done { next.fraction = done }
        return next
    }
}
