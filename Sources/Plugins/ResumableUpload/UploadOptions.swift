public import Errand
public import ErrandEssentials

/// How uploads are performed; every default is safe.
///
/// ```swift
/// let options = UploadOptions(directory: directory)
/// let agent = NetworkAgent(baseURL: url, transport: .system, filters: [.uploads(options)])
/// ```
public struct UploadOptions: Sendable {
    /// Where the records of unfinished uploads are kept, a small file for each, so that a later start resumes; it is
    /// created if it does not exist. Nil, the default, resumes within one call only.
    ///
    /// A record has the URL of the upload, which many servers take as a permission to write to it: only the owner of the file
    /// may read it.
    public var directory: URL?
    /// The protocol; `.automatic` by default.
    public var uploadProtocol: UploadProtocol
    /// The policy for another attempt after a failure.
    public var retry: TransferRetryPolicy
    /// The most bytes of the body in one request; nil, the default, for as many as the server takes. For servers behind a
    /// proxy that stores a request before it passes it on.
    public var maximumRequestBytes: Int64?
    /// The maximum number of segments of one body that are sent at once, from 1 to 16; 1 by default. A tus server that has
    /// the extension concatenation joins them. Any other server gets the body over one connection, as do all where it cannot be
    /// opened at an offset.
    public var maximumSegments: Int
    /// The shortest segment, in bytes; 1 MiB by default.
    public var minimumSegmentBytes: Int64
    /// Whether the server gets a SHA-256 to check: of the whole body (`Repr-Digest`, RFC 9530), or with tus of each request,
    /// where it knows the checksum extension. The bytes are read once more before they are sent. False by default.
    public var sendsDigest: Bool
    /// The shortest time between two reports of progress while bytes are sent; 100 ms by default. The last report is always
    /// delivered, and a change of state is reported at once.
    public var progressInterval: Duration

    /// Makes options; every argument has a default.
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
