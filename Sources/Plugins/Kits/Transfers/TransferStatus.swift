public import ErrandEssentials

/// The progress and the state of a transfer.
public struct TransferStatus: Sendable, Hashable {
    /// The number of bytes received, or passed to the network, including earlier runs.
    ///
    /// A download's count only decreases if the file turns out to be shorter. An upload's count decreases if the server
    /// has fewer bytes than expected.
    public var transferred: Int64
    /// The number of bytes that the receiver has. For uploads, the server has confirmed them. For downloads, all
    /// transferred bytes.
    public var acknowledged: Int64
    /// The length of the file or body in bytes, or `nil` if unknown.
    public var total: Int64?
    /// Bytes per second over the last few seconds. 0 until it's known, and while no bytes move.
    public var rate: Double
    /// The estimated time left, or `nil` if unknown.
    public var timeLeft: Duration?
    /// The current activity.
    public var state: TransferState

    /// Creates a status, for example for tests and previews. By default all bytes are acknowledged.
    public init(
        transferred: Int64 = 0, acknowledged: Int64? = nil, total: Int64? = nil, rate: Double = 0,
        timeLeft: Duration? = nil, state: TransferState
    ) {
        self.transferred = transferred
        self.acknowledged = acknowledged ?? transferred
        self.total = total
        self.rate = rate
        self.timeLeft = timeLeft
        self.state = state
    }

    /// The transferred fraction, from 0 to 1, or `nil` if the total is unknown.
    public var fraction: Double? {
        guard let total else { return nil }
        return total > 0 ? min(1, Double(transferred) / Double(total)) : 1
    }
}

/// The activity of a transfer. More cases may be added, so write a `default`.
public enum TransferState: Sendable, Hashable {
    /// Waits because the process has too many open files.
    case queued
    /// Reads the file to upload, before sending.
    case preparing
    /// An attempt has begun, but no bytes have moved yet.
    case connecting
    /// Receives a download's bytes.
    case receiving
    /// Sends an upload's bytes.
    case sending
    /// An attempt is running, but no bytes have moved for five seconds.
    case stalled
    /// Waits for `resume()`.
    case paused
    /// Waits for the next attempt, which begins at this date.
    case waiting(until: Date)
    /// All bytes of a download are on disk, and their digest is being checked.
    case verifying
    /// The file is at its destination, or the server has confirmed all bytes.
    case finished
    /// The run failed or was cancelled.
    case interrupted

    var showsRate: Bool { [.connecting, .receiving, .sending, .verifying, .finished].contains(self) }
}
