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

/// Body bytes so far in each direction; totals are nil while they are not known.
public struct TransferProgress: Sendable, Hashable {
    /// Body bytes sent.
    public var sent: Int64
    /// The number of body bytes to send; nil where it is not known.
    public var totalToSend: Int64?
    /// Body bytes received.
    public var received: Int64
    /// The number of body bytes to receive; nil where it is not known.
    public var totalToReceive: Int64?
    /// The number of the transfer that the bytes belong to, from 1: a retry, a redirect, and a request that is repeated
    /// after a login each begin a new one, with no bytes. Within a transfer no number decreases. Core sets it; 1 in a
    /// composite.
    public var transfer: Int
    private var given: Double?

    /// Makes a progress; nothing sent or received by default.
    public init(
        sent: Int64 = 0, totalToSend: Int64? = nil, received: Int64 = 0, totalToReceive: Int64? = nil,
        fraction: Double? = nil, transfer: Int = 1
    ) {
        self.transfer = transfer
        self.sent = sent
        self.totalToSend = totalToSend
        self.received = received
        self.totalToReceive = totalToReceive
        given = fraction
    }

    /// The completed part, from 0 to 1; nil if it is not known.
    ///
    /// A composite sets it. For a request it follows from the bytes: those sent of the request's body until the length
    /// of the response's body is known, then those of both directions. It is nil while a body of unknown length is
    /// received, and while one of unknown length is sent.
    public var fraction: Double? {
        get { given ?? measured }
        set { given = newValue }
    }

    private var measured: Double? {
        let done: Double
        let total: Double
        if let totalToReceive {
            (done, total) = (Double(sent) + Double(received), Double(totalToSend ?? sent) + Double(totalToReceive))
        } else if let totalToSend, received == 0 {
            (done, total) = (Double(sent), Double(totalToSend))
        } else {
            return nil
        }
        // A transfer without bytes is complete once the response has arrived.
        if total <= 0 { return totalToReceive == nil ? nil : 1 }
        return min(max(done / total, 0), 1)
    }
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
