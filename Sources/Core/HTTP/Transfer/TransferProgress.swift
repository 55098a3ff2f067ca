/// The body bytes transferred so far.
public struct TransferProgress: Sendable, Hashable {
    /// How many body bytes were sent.
    public var sent: Int64
    /// How many body bytes there are to send. `nil` if unknown.
    public var totalToSend: Int64?
    /// How many body bytes were received.
    public var received: Int64
    /// How many body bytes there are to receive. `nil` if unknown.
    public var totalToReceive: Int64?
    /// The number of the transfer, from 1. A retry, a redirect, or a repetition after a login starts a new transfer
    /// with zero bytes. Within a transfer, no number decreases. Set by Core.
    public var transfer: Int
    private var given: Double?

    /// Creates a progress value. Defaults to no bytes and unknown totals.
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

    /// The completed fraction, from 0 to 1. `nil` if unknown.
    ///
    /// A batch or another composite sets the fraction itself. For a request, the fraction is calculated from the bytes
    /// sent, or from the bytes in both directions once the response's length is known. The fraction is `nil` while a
    /// body of unknown length is sent or received.
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
    package init(sending body: RequestBody) { self.init(totalToSend: body.isNone ? nil : body.length) }

    package var isBegun: Bool { sent > 0 || received > 0 }

    package func following(_ before: TransferProgress) -> TransferProgress {
        guard before.transfer == transfer else { return self }
        var next = self
        (next.sent, next.received) = (max(sent, before.sent), max(received, before.received))
        if let done = before.fraction, let now = next.fraction, now < done { next.fraction = done }
        return next
    }
}
