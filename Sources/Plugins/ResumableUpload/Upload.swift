public import Errand
public import ErrandEssentials
public import ErrandTransfers

/// A running upload. It's a sequence of events, and can be paused, resumed and cancelled.
public typealias Upload<Output: Sendable> = TransferHandle<Output>

extension Agent {
    /// Starts an upload and returns the sequence of its events.
    ///
    /// ```swift
    /// for try await event in agent.upload(SendVideo(file: file)) {
    ///     switch event {
    ///     case .progress(let status): show(status.fraction ?? 0, status.timeLeft)
    ///     case .notice(let notice): log(notice)
    ///     case .finished(let response): show(response.value)
    ///     }
    /// }
    /// ```
    ///
    /// Leaving the loop, or cancelling its task, cancels the upload. If ``UploadOptions/directory`` is set, sending the
    /// same request again resumes it. The loop throws `TransferError` and `ErrandError`.
    ///
    /// - Parameters:
    ///   - request: The request whose body is uploaded.
    ///   - control: Pauses and resumes all transfers that you pass it to. By default, each upload has its own control.
    ///   - options: The options of the call.
    public func upload<R: UploadRequest>(
        _ request: R, control: TransferControl = TransferControl(), options: CallOptions = CallOptions()
    ) -> Upload<R.Output> {
        TransferHandle(request, on: self, control: control, options: options)
    }
}

/// The protocol that resumes an upload. More cases may be added, so write a `default`.
public enum UploadProtocol: String, Sendable, Hashable, Codable {
    /// Asks the server with an OPTIONS request. If the response doesn't identify a protocol, uses ``draft8``, which
    /// other servers handle as an ordinary upload.
    case automatic
    /// Resumable uploads for HTTP (draft-ietf-httpbis-resumable-upload), interop version 8.
    case draft8
    /// Resumable uploads for HTTP, interop version 6.
    case draft6
    /// tus 1.0 (tus.io), with the extensions that the server announces.
    case tus
}

/// A request whose whole body reaches the server, even if the transfer is interrupted.
///
/// ```swift
/// struct SendVideo: UploadRequest {
///     typealias Output = Video
///     let file: URL
///     var method: HTTPMethod { .post }
///     var path: String { "videos" }
///     var body: RequestBody { .file(file) }
/// }
/// let video = try await agent.send(SendVideo(file: file)).value
/// ```
///
/// The request brings its own filter, so any agent can send it. Its output is decoded from the response that completes
/// the upload. If the body's `RequestBody.opensAtOffset` is false, the upload starts over after each interruption.
public protocol UploadRequest: FilterProvidingRequest {
    /// A name that identifies this upload across starts, along with the method and the URL's origin. Set it if each
    /// start has a newly signed URL, or if the file may move. Defaults to `nil`, which uses the method, the URL, and
    /// the file's path or the other body's bytes.
    var uploadKey: String? { get }
    /// Metadata for a tus server, such as the `filename` (`Upload-Metadata`). Defaults to empty.
    var uploadMetadata: [String: String] { get }
    /// Options for this request. Defaults to `nil`, which uses the filter's options.
    var uploadOptions: UploadOptions? { get }
}

extension UploadRequest {
    /// Returns `nil`.
    public var uploadKey: String? { nil }
    /// Returns an empty dictionary.
    public var uploadMetadata: [String: String] { [:] }
    /// Returns `nil`.
    public var uploadOptions: UploadOptions? { nil }
    /// Returns a ``ResumableUploadFilter`` with default options, and a filter that never resumes an upload for another
    /// user.
    public var requiredFilters: [any Filter] { [ResumableUploadFilter(), .keepingUser] }
}

/// The options of uploads. The defaults suit most apps.
///
/// ```swift
/// let options = UploadOptions(directory: directory)
/// let agent = NetworkAgent(baseURL: url, transport: .system, filters: [.uploads(options)])
/// ```
public struct UploadOptions: Sendable {
    /// The directory for records of unfinished uploads, which a later start can resume. Each upload has a small file.
    /// The directory is created if necessary. Defaults to nil: uploads resume only within one call.
    ///
    /// A record contains the upload's URL, and many servers let anyone with this URL write to the upload. Only the
    /// record's owner can read it.
    public var directory: URL?
    /// The protocol that resumes uploads. Defaults to `.automatic`.
    public var uploadProtocol: UploadProtocol
    /// Whether and when to retry. Defaults to `TransferRetryPolicy`'s standard.
    public var retry: TransferRetryPolicy
    /// The maximum number of body bytes per request. Set it if a proxy in front of the server buffers whole requests.
    /// Defaults to nil: as many as the server accepts.
    public var maximumRequestBytes: Int64?
    /// The maximum number of concurrent segments, from 1 to 16. Defaults to 1. Only tus servers with the concatenation
    /// extension can join segments, and the body must open at an offset. Otherwise the body is sent over one
    /// connection.
    public var maximumSegments: Int
    /// The minimum size of a segment in bytes. Defaults to 1 MiB.
    public var minimumSegmentBytes: Int64
    /// Whether to send a SHA-256 for the server to check, which reads the bytes twice. Defaults to false. The HTTP
    /// protocols send it for the whole body (`Repr-Digest`, RFC 9530) and for each later part (`Content-Digest`). tus
    /// sends it for each part after the creating request, if the server supports the checksum extension.
    public var sendsDigest: Bool
    /// The minimum time between progress reports. Defaults to 100 ms. Changes of state are reported immediately, and
    /// the last report is always delivered.
    public var progressInterval: Duration

    /// Creates options with the defaults of the properties.
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
