/// The progress of a download, and its state.
public struct DownloadProgress: Sendable, Hashable {
    /// Bytes in the partial file, including those of earlier runs. Never less than reported before, unless the file turns
    /// out to be shorter.
    public var received: Int64
    /// The length of the file in bytes; nil while unknown.
    public var total: Int64?
    /// Bytes a second over the last few seconds; 0 before the first is known, and while nothing arrives.
    public var rate: Double
    /// The time left at that rate; nil while unknown.
    public var timeLeft: Duration?
    /// The state of the download.
    public var state: DownloadState

    /// Makes progress, for tests and previews.
    public init(
        received: Int64 = 0, total: Int64? = nil, rate: Double = 0, timeLeft: Duration? = nil,
        state: DownloadState = .receiving
    ) {
        self.received = received
        self.total = total
        self.rate = rate
        self.timeLeft = timeLeft
        self.state = state
    }

    /// From 0 to 1; nil while the total is unknown.
    public var fraction: Double? {
        guard let total else { return nil }
        return total > 0 ? min(1, Double(received) / Double(total)) : 1
    }
}
