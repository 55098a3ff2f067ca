public import Errand
public import ErrandEssentials
public import ErrandTransfers

/// A running upload: the sequence of its events, and the means to pause, resume and cancel it.
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
    ///   - control: Pauses and resumes this upload, and all others that you pass it to. By default, each upload has its
    ///     own control, used by ``Upload``'s `pause()` and `resume()`.
    ///   - options: The options of the call.
    public func upload<R: UploadRequest>(
        _ request: R, control: TransferControl = TransferControl(), options: CallOptions = CallOptions()
    ) -> Upload<R.Output> {
        TransferHandle(request, on: self, control: control, options: options)
    }
}

/// The protocol with which an upload is resumed. More cases may be added, so write a `default`.
public enum UploadProtocol: String, Sendable, Hashable, Codable {
    /// Asks the server with an OPTIONS request. If the response doesn't identify a protocol, uses ``draft8``, which a
    /// server without support for it handles as an ordinary upload.
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
/// the upload. If the body's `RequestBody.opensAtOffset` is `false`, the upload starts over after each interruption.
public protocol UploadRequest: FilterProvidingRequest {
    /// A name that identifies this upload across starts, together with the method and the URL's origin. Defaults to
    /// `nil`, which uses the method, the URL, and the file's path, or the bytes of other bodies. Set a key if each
    /// start has a newly signed URL, or if the file may move before the upload is complete.
    var uploadKey: String? { get }
    /// Metadata for a tus server, such as the `filename`. Sent as `Upload-Metadata`. Defaults to an empty dictionary.
    var uploadMetadata: [String: String] { get }
    /// Options for this request. Defaults to `nil`, which uses the filter's options.
    var uploadOptions: UploadOptions? { get }
}

extension UploadRequest {
    /// The default implementation returns `nil`, which identifies the upload by its method, URL and body.
    public var uploadKey: String? { nil }
    /// The default implementation returns no metadata.
    public var uploadMetadata: [String: String] { [:] }
    /// The default implementation returns `nil`, which uses the filter's options.
    public var uploadOptions: UploadOptions? { nil }
    /// Installs a ``ResumableUploadFilter`` with default options, and a filter that never resumes an upload for another
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
    /// The directory for records of unfinished uploads, with which a later start can resume them. Each upload has a
    /// small file. The directory is created if necessary. Defaults to `nil`: only resumes within one call.
    ///
    /// A record contains the upload's URL, and many servers let anyone with this URL write to the upload. Only the
    /// file's owner can read the record.
    public var directory: URL?
    /// The protocol with which uploads are resumed. Defaults to `.automatic`.
    public var uploadProtocol: UploadProtocol
    /// Whether and when to try again after a failure. Defaults to `TransferRetryPolicy`'s standard.
    public var retry: TransferRetryPolicy
    /// The maximum number of body bytes per request. Defaults to `nil`: as many as the server accepts. Set it if a
    /// proxy in front of the server buffers whole requests.
    public var maximumRequestBytes: Int64?
    /// The maximum number of segments to send concurrently, from 1 to 16. Defaults to 1. Only tus servers with the
    /// concatenation extension can join segments. Other servers get the body over one connection, and so does every
    /// server if the body can't be opened at an offset.
    public var maximumSegments: Int
    /// The smallest segment to send separately, in bytes. Defaults to 1 MiB.
    public var minimumSegmentBytes: Int64
    /// Whether to send a SHA-256 for the server to check. Defaults to `false`. The HTTP protocols send it for the whole
    /// body (`Repr-Digest`, RFC 9530) and for each later part (`Content-Digest`). tus sends it for each part after the
    /// creating request, if the server supports the checksum extension. The bytes are read an additional time before
    /// they are sent.
    public var sendsDigest: Bool
    /// The minimum time between progress reports while bytes are sent. Defaults to 100 ms. The last report is always
    /// delivered, and changes of state are reported immediately.
    public var progressInterval: Duration

    /// Creates options. Every argument has the default of its property.
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
