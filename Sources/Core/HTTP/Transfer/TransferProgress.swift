/// The body bytes transferred so far in each direction. Totals are `nil` while unknown.
public struct TransferProgress: Sendable, Hashable {
    /// The number of body bytes sent.
    public var sent: Int64
    /// The number of body bytes to send; `nil` if unknown.
    public var totalToSend: Int64?
    /// The number of body bytes received.
    public var received: Int64
    /// The number of body bytes to receive; `nil` if unknown.
    public var totalToReceive: Int64?
    /// The number of the transfer that the bytes belong to, from 1. A retry, a redirect, or a repetition after a login
    /// starts a new transfer with zero bytes. Within a transfer, no number decreases. Core sets it; a composite has 1.
    public var transfer: Int
    private var given: Double?

    /// Creates a progress value, by default with zero bytes.
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

    /// The completed fraction, from 0 to 1; `nil` if unknown.
    ///
    /// Composites set it. A request calculates it from the bytes sent, and once the length of the response body is
    /// known, from the bytes in both directions. It is `nil` while a body of unknown length is sent or received.
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

/// An event that a transport reports while it works. Cases may be added, so include a `default` when you switch.
public enum TransportEvent: Sendable {
    /// Body bytes sent and received so far.
    case progress(TransferProgress)
    /// A 1xx response before the final response.
    case informational(status: Int, headers: HTTPHeaders)
    /// Trailer fields after a chunked body.
    case trailers(HTTPHeaders)
    /// No network that the request may use is available, so the transport waits for one, up to the request's timeout.
    case waitingForConnectivity
    /// The exchange has ended on the wire.
    indirect case timings(TransferTimings)
}
