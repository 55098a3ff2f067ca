/// How downloads are done; every default is safe to keep.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: url, transport: .curl, filters: [.downloads(DownloadOptions(segments: 4))])
/// ```
public struct DownloadOptions: Sendable {
    /// Ranges of one file that are fetched at once, from 1 to 16, where the server allows it; 1 by default. A segment that
    /// is done takes half of what the slowest has left.
    public var segments: Int
    /// No segment is shorter than that many bytes; 1 MiB by default.
    public var minimumSegment: Int64
    /// What becomes of a file whose name is taken, in a directory; `.number` by default. A destination that is a file is
    /// always replaced.
    public var nameClash: NameClash
    /// What happens when an attempt fails.
    public var retries: DownloadRetries
    /// The shortest time between two reports of progress while bytes arrive; 100 ms by default. The last one is never
    /// lost, and a change of state is reported at once.
    public var progressInterval: Duration
    /// The largest file that is written from a content coding such as gzip, in bytes; 4 GiB by default. A file that is
    /// sent as it is has no such bound: its length is announced and compared with the free space.
    public var maximumDecodedBytes: Int64

    public init(
        segments: Int = 1, minimumSegment: Int64 = 1 << 20, nameClash: NameClash = .number,
        retries: DownloadRetries = DownloadRetries(), progressInterval: Duration = .milliseconds(100),
        maximumDecodedBytes: Int64 = 4 << 30
    ) {
        self.segments = segments
        self.minimumSegment = minimumSegment
        self.nameClash = nameClash
        self.retries = retries
        self.progressInterval = progressInterval
        self.maximumDecodedBytes = maximumDecodedBytes
    }
}

/// What becomes of a file whose name is taken.
public enum NameClash: Sendable, Hashable {
    /// `film.mp4`, `film (2).mp4`, `film (3).mp4`.
    case number
    /// The old file goes when the new one is whole.
    case replace
}

/// When a download continues by itself after the network or the server failed.
///
/// ```swift
/// DownloadOptions(retries: DownloadRetries(maximumConsecutiveFailures: 10))
/// ```
///
/// Between two attempts it waits: as long as `Retry-After` asks (RFC 9110, section 10.2.3), otherwise at random up to
/// `backoff`, which doubles with each attempt that brought nothing. Only failures that may pass are followed by another
/// attempt; see `ErrandError.isRetryable`.
public struct DownloadRetries: Sendable, Hashable {
    /// Attempts in a row that bring no new byte before the download fails; 5 by default. An attempt that brings bytes
    /// starts the count anew.
    public var maximumConsecutiveFailures: Int
    /// Attempts in one run, whatever they bring; nil, the default, for no limit. A `deadline` of the request bounds the
    /// time instead.
    public var maximumAttempts: Int?
    /// The longest first wait; half a second by default.
    public var backoff: Duration
    /// No wait is longer: a longer `Retry-After` ends the download. A minute by default.
    public var longestWait: Duration

    public init(
        maximumConsecutiveFailures: Int = 5, maximumAttempts: Int? = nil, backoff: Duration = .milliseconds(500),
        longestWait: Duration = .seconds(60)
    ) {
        self.maximumConsecutiveFailures = maximumConsecutiveFailures
        self.maximumAttempts = maximumAttempts
        self.backoff = backoff
        self.longestWait = longestWait
    }

    /// One attempt.
    public static let none = DownloadRetries(maximumConsecutiveFailures: 1, maximumAttempts: 1)
}
