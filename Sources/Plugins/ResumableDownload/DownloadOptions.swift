/// How downloads are done; every default is safe to keep.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: url, transport: .curl, filters: [.downloads(DownloadOptions(segments: 4))])
/// ```
public struct DownloadOptions: Sendable {
    /// Ranges of one file that are fetched at once, from 1 to 16, where the server allows it; 1 by default.
    public var segments: Int
    /// No segment is shorter than that many bytes; 1 MiB by default.
    public var minimumSegment: Int64
    /// What becomes of a file whose name is taken, in a directory; `.number` by default. A destination that is a file is
    /// always replaced.
    public var nameClash: NameClash
    /// What is done when a try fails.
    public var retries: DownloadRetries
    /// The shortest time between two reports of progress; 100 ms by default.
    public var progressInterval: Duration

    public init(
        segments: Int = 1, minimumSegment: Int64 = 1 << 20, nameClash: NameClash = .number,
        retries: DownloadRetries = DownloadRetries(), progressInterval: Duration = .milliseconds(100)
    ) {
        self.segments = segments
        self.minimumSegment = minimumSegment
        self.nameClash = nameClash
        self.retries = retries
        self.progressInterval = progressInterval
    }
}

/// What becomes of a file whose name is taken.
public enum NameClash: Sendable, Hashable {
    /// `film.mp4`, `film (2).mp4`, `film (3).mp4`.
    case number
    /// The old file goes when the new one is whole.
    case replace
}

/// When a download goes on by itself after the network or the server failed.
///
/// Between two tries it waits: as long as `Retry-After` asks (RFC 9110, section 10.2.3), otherwise at random up to
/// `backoff`, which doubles with each try that brought nothing. Only failures that may pass are tried again; see
/// `ErrandError.isRetryable`.
public struct DownloadRetries: Sendable, Hashable {
    /// Tries in a row that bring no byte; 5 by default.
    public var inARow: Int
    /// Tries in all; 100 by default.
    public var inAll: Int
    /// Half a second by default.
    public var backoff: Duration
    /// No wait is longer: a longer `Retry-After` ends the download. A minute by default.
    public var longestWait: Duration

    public init(
        inARow: Int = 5, inAll: Int = 100, backoff: Duration = .milliseconds(500), longestWait: Duration = .seconds(60)
    ) {
        self.inARow = inARow
        self.inAll = inAll
        self.backoff = backoff
        self.longestWait = longestWait
    }

    /// One try.
    public static let none = DownloadRetries(inARow: 1, inAll: 1)
}
