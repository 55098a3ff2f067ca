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
