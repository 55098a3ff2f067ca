/// The progress of an upload, and its state.
public struct UploadProgress: Sendable, Hashable {
    /// Bytes of the body that were passed to the network, including those of earlier runs that the server has. It falls when
    /// the server turns out to have less.
    public var sent: Int64
    /// Bytes that the server has confirmed.
    public var acknowledged: Int64
    /// The length of the body in bytes; nil while unknown.
    public var total: Int64?
    /// Bytes a second over the last few seconds; 0 before the first is known, and while nothing is sent.
    public var rate: Double
    /// The time left at that rate; nil while unknown.
    public var timeLeft: Duration?
    /// The state of the upload.
    public var state: UploadState

    /// Makes progress, for tests and previews.
    public init(
        sent: Int64 = 0, acknowledged: Int64 = 0, total: Int64? = nil, rate: Double = 0, timeLeft: Duration? = nil,
        state: UploadState = .sending
    ) {
        self.sent = sent
        self.acknowledged = acknowledged
        self.total = total
        self.rate = rate
        self.timeLeft = timeLeft
        self.state = state
    }

    /// The sent part, from 0 to 1; nil while the total is unknown.
    public var fraction: Double? {
        guard let total else { return nil }
        return total > 0 ? min(1, Double(sent) / Double(total)) : 1
    }
}
