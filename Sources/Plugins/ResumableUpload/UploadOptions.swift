public import Errand
public import ErrandEssentials

/// Options for uploads. All defaults are safe.
///
/// ```swift
/// let options = UploadOptions(directory: directory)
/// let agent = NetworkAgent(baseURL: url, transport: .system, filters: [.uploads(options)])
/// ```
public struct UploadOptions: Sendable {
    /// The directory for records of unfinished uploads, with which a later start can resume them. Each upload has a
    /// small file. The directory is created if necessary. Defaults to `nil`: only resumes within one call.
    ///
    /// A record contains the upload's URL, and many servers let anyone with this URL write to the upload. Only the
    /// file's owner can read the record.
    public var directory: URL?
    /// The upload protocol. Defaults to `.automatic`.
    public var uploadProtocol: UploadProtocol
    /// Whether and when to try again after a failure.
    public var retry: TransferRetryPolicy
    /// The maximum number of body bytes per request. Defaults to `nil`: as many as the server accepts. Set it if a
    /// proxy in front of the server buffers whole requests.
    public var maximumRequestBytes: Int64?
    /// The maximum number of segments to send concurrently, from 1 to 16. Defaults to 1. Only tus servers with the
    /// concatenation extension can join segments. Other servers get the body over one connection, and so does every
    /// server if the body can't be opened at an offset.
    public var maximumSegments: Int
    /// The minimum size of a segment in bytes. Defaults to 1 MiB.
    public var minimumSegmentBytes: Int64
    /// Whether to send a SHA-256 for the server to check. Defaults to `false`. The HTTP protocols send it for the whole
    /// body (`Repr-Digest`, RFC 9530) and for each later part (`Content-Digest`). tus sends it for each part after the
    /// creating request, if the server supports the checksum extension. The bytes are read an additional time before
    /// they are sent.
    public var sendsDigest: Bool
    /// The minimum time between progress reports while bytes are sent. Defaults to 100 ms. The last report is always
    /// delivered, and changes of state are reported immediately.
    public var progressInterval: Duration

    /// Creates options. All arguments have defaults.
    public init(
        directory: URL? = nil, uploadProtocol: UploadProtocol = .automatic, retry: TransferRetryPolicy = .standard,
        maximumRequestBytes: Int64? = nil, maximumSegments: Int = 1, minimumSegmentBytes: Int64 = 1 << 20,
        sendsDigest: Bool = false, progressInterval: Duration = .milliseconds(100)
    ) {
        self.directory = directory
        self.uploadProtocol = uploadProtocol
        self.retry = retry
        self.maximumRequestBytes = maximumRequestBytes
        self.maximumSegments = maximumSegments
        self.minimumSegmentBytes = minimumSegmentBytes
        self.sendsDigest = sendsDigest
        self.progressInterval = progressInterval
    }
}
