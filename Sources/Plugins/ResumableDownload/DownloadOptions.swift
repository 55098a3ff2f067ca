public import Errand

/// How downloads are performed; every default is safe.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: url, transport: .curl, filters: [.downloads(DownloadOptions(maximumSegments: 4))])
/// ```
public struct DownloadOptions: Sendable {
    /// The maximum number of ranges of one file that are fetched at once, from 1 to 16, where the server supports them; 1 by
    /// default. A segment that is complete takes half of the rest of the slowest one.
    public var maximumSegments: Int
    /// The shortest segment, in bytes; 1 MiB by default.
    public var minimumSegmentBytes: Int64
    /// The policy for a directory that has a file with the same name; `.number` by default. A destination that is a
    /// file is always replaced.
    public var nameCollisionPolicy: NameCollisionPolicy
    /// The policy for another attempt after a failure.
    public var retries: DownloadRetries
    /// The shortest time between two reports of progress while bytes arrive; 100 ms by default. The last report is always
    /// delivered, and a change of state is reported at once.
    public var progressInterval: Duration
    /// The largest file that is decoded from a content coding such as gzip, in bytes; 4 GiB by default. A file without a
    /// content coding has no such bound: its announced length is compared with the free space.
    public var maximumDecodedBytes: Int64

    /// Makes options; every argument has a default.
    public init(
        maximumSegments: Int = 1, minimumSegmentBytes: Int64 = 1 << 20,
        nameCollisionPolicy: NameCollisionPolicy = .number,
        retries: DownloadRetries = DownloadRetries(), progressInterval: Duration = .milliseconds(100),
        maximumDecodedBytes: Int64 = 4 << 30
    ) {
        self.maximumSegments = maximumSegments
        self.minimumSegmentBytes = minimumSegmentBytes
        self.nameCollisionPolicy = nameCollisionPolicy
        self.retries = retries
        self.progressInterval = progressInterval
        self.maximumDecodedBytes = maximumDecodedBytes
    }
}

/// The policy of a download into a directory where a file with the same name exists.
public enum NameCollisionPolicy: Sendable, Hashable {
    /// The new file gets a number: `film (2).mp4`, `film (3).mp4`.
    case number
    /// The new file replaces the old one when it is complete.
    case replace
}

/// The policy for another attempt after the network or the server failed.
///
/// ```swift
/// DownloadOptions(retries: DownloadRetries(maximumConsecutiveFailures: 10))
/// ```
///
/// Between two attempts a download waits: as long as `Retry-After` says (RFC 9110, section 10.2.3), otherwise as its
/// ``backoff`` says for the attempts without progress. Only temporary failures are followed by another attempt; see
/// `ErrandError.isRetryable`.
public struct DownloadRetries: Sendable, Hashable {
    /// Consecutive attempts without a new byte after which the download fails; 5 by default. An attempt that receives new
    /// bytes resets the count.
    public var maximumConsecutiveFailures: Int
    /// Attempts in one run, with progress or without; nil, the default, for no limit. A `deadline` of the request limits
    /// the time instead.
    public var maximumAttempts: Int?
    /// The waits where the server asks for none: up to half a second at first, and a minute at most, by default.
    public var backoff: Backoff
    /// The longest `Retry-After` that the download waits for; a longer one ends it. A minute by default.
    public var maximumRetryAfter: Duration

    /// Makes rules; every argument has a default.
    public init(
        maximumConsecutiveFailures: Int = 5, maximumAttempts: Int? = nil,
        backoff: Backoff = Backoff(maximumDelay: .seconds(60)), maximumRetryAfter: Duration = .seconds(60)
    ) {
        self.maximumConsecutiveFailures = maximumConsecutiveFailures
        self.maximumAttempts = maximumAttempts
        self.backoff = backoff
        self.maximumRetryAfter = maximumRetryAfter
    }

    /// A single attempt.
    public static let off = DownloadRetries(maximumConsecutiveFailures: 1, maximumAttempts: 1)
}
