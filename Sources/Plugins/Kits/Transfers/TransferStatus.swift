public import ErrandEssentials

/// How far a transfer is, and what it does.
public struct TransferStatus: Sendable, Hashable {
    /// Bytes received, or passed to the network, including those of earlier runs.
    ///
    /// Of a download it never falls, unless the file turns out to be shorter. Of an upload it falls when the server turns out
    /// to have less.
    public var transferred: Int64
    /// Bytes that the receiver has: those of an upload that the server has confirmed, all of a download.
    public var acknowledged: Int64
    /// The length of the file or the body in bytes; nil while unknown.
    public var total: Int64?
    /// Bytes a second over the last few seconds; 0 before the first is known, and while nothing moves.
    public var rate: Double
    /// The time left at that rate; nil while unknown.
    public var timeLeft: Duration?
    /// What the transfer does.
    public var state: TransferState

    /// Creates a status, for tests and previews too. By default all bytes are acknowledged.
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

    /// The transferred part, from 0 to 1; nil while the total is unknown.
    public var fraction: Double? {
        guard let total else { return nil }
        return total > 0 ? min(1, Double(transferred) / Double(total)) : 1
    }
}

/// What a transfer does. Cases may be added: write a `default`.
public enum TransferState: Sendable, Hashable {
    /// It waits, because the process has too many open files.
    case queued
    /// The file of an upload is read, before anything is sent.
    case preparing
    /// An attempt has begun; no byte of it has moved.
    case connecting
    /// The bytes of a download arrive.
    case receiving
    /// The bytes of an upload are sent.
    case sending
    /// An attempt is running, but no byte has moved for five seconds.
    case stalled
    /// It waits for `resume()`.
    case paused
    /// It waits for the next attempt, until a date.
    case waiting(until: Date)
    /// All bytes of a download are on disk; the digest is computed and the checks run.
    case verifying
    /// The file is at its destination, or the server has all bytes and has responded.
    case finished
    /// The run ended before that: it failed or was cancelled.
    case interrupted

    /// Whether the rate of the last seconds is shown.
    var showsRate: Bool { [.connecting, .receiving, .sending, .verifying, .finished].contains(self) }
}
