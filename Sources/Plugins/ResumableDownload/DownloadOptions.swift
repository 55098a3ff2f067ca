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
    public var retry: TransferRetryPolicy
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
        retry: TransferRetryPolicy = .standard, progressInterval: Duration = .milliseconds(100),
        maximumDecodedBytes: Int64 = 4 << 30
    ) {
        self.maximumSegments = maximumSegments
        self.minimumSegmentBytes = minimumSegmentBytes
        self.nameCollisionPolicy = nameCollisionPolicy
        self.retry = retry
        self.progressInterval = progressInterval
        self.maximumDecodedBytes = maximumDecodedBytes
    }
}
