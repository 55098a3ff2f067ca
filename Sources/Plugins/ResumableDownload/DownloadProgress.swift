/// How far a download is.
public struct DownloadProgress: Sendable, Hashable {
    /// Bytes that are in the partial file, those of earlier runs included. Never less than was told before, unless the
    /// file turns out to be shorter.
    public var received: Int64
    /// Nil while nobody knows.
    public var total: Int64?
    /// Bytes a second over the last few seconds; 0 before the first is known.
    public var rate: Double
    /// At that rate; nil while it cannot be told.
    public var timeLeft: Duration?

    public init(received: Int64 = 0, total: Int64? = nil, rate: Double = 0, timeLeft: Duration? = nil) {
        self.received = received
        self.total = total
        self.rate = rate
        self.timeLeft = timeLeft
    }

    /// From 0 to 1; nil while the total is not known.
    public var fraction: Double? {
        guard let total else { return nil }
        return total > 0 ? min(1, Double(received) / Double(total)) : 1
    }
}
