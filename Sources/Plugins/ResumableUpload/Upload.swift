public import Errand
public import ErrandEssentials
public import ErrandTransfers

/// The handle of a running upload. It's a sequence of events, and can pause, resume and cancel the upload.
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
    /// Leaving the loop, or cancelling its task, cancels the upload. If ``UploadOptions/directory`` is set, you can
    /// resume the upload by sending the same request again. The loop throws `TransferError` and `ErrandError`.
    ///
    /// - Parameters:
    ///   - request: The request whose body is uploaded.
    ///   - control: A control that pauses and resumes every transfer to which you pass it. By default, each upload has
    ///     its own control.
    ///   - options: The options of the call.
    public func upload<R: UploadRequest>(
        _ request: R, control: TransferControl = TransferControl(), options: CallOptions = CallOptions()
    ) -> Upload<R.Output> {
        TransferHandle(request, on: self, control: control, options: options)
    }
}

/// A protocol for resumable uploads. More cases may be added, so write a `default`.
public enum UploadProtocol: String, Sendable, Hashable, Codable {
    /// Asks the server for its protocol with an OPTIONS request. If the response doesn't identify a protocol, uses
    /// ``draft8``. Servers that don't know this protocol handle the request as an ordinary upload.
    case automatic
    /// Resumable uploads for HTTP (draft-ietf-httpbis-resumable-upload), interop version 8.
    case draft8
    /// Resumable uploads for HTTP, interop version 6.
    case draft6
    /// tus 1.0 (tus.io), with the extensions that the server announces.
    case tus
}

/// A request that uploads its body. The whole body reaches the server, even if the transfer is interrupted.
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
/// the upload. If the body can't be opened at an offset (see `RequestBody.opensAtOffset`), the upload starts over after
/// each interruption.
public protocol UploadRequest: FilterProvidingRequest {
    /// A name that identifies this upload each time it's started, along with the method and the URL's origin. Set it if
    /// each start has a newly signed URL, or if the file may move. Defaults to `nil`. The upload is then identified by
    /// the method, the URL, and the file's path, or by the body's bytes if the body isn't a file.
    var uploadKey: String? { get }
    /// The metadata for a tus server, such as the `filename`. It's sent in the `Upload-Metadata` header. Defaults to an
    /// empty dictionary.
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
    /// Returns a ``ResumableUploadFilter`` with default options, and a filter that prevents an upload from being
    /// resumed for another user.
    public var requiredFilters: [any Filter] { [ResumableUploadFilter(), .keepingUser] }
}

/// The options of uploads. The defaults suit most apps.
///
/// ```swift
/// let options = UploadOptions(directory: directory)
/// let agent = NetworkAgent(baseURL: url, transport: .system, filters: [.uploads(options)])
/// ```
public struct UploadOptions: Sendable {
    /// The directory for the records of unfinished uploads. A later start of an upload resumes it with its record. Each
    /// upload has one small file. The directory is created if necessary. Defaults to nil, which resumes uploads only
    /// within one call.
    ///
    /// A record contains the upload's URL, and many servers accept writes to the upload from anyone who knows this URL.
    /// Therefore, only the owner of the record can read the file.
    public var directory: URL?
    /// The protocol that resumes uploads. Defaults to `.automatic`.
    public var uploadProtocol: UploadProtocol
    /// Whether and when to retry. Defaults to the standard `TransferRetryPolicy`.
    public var retry: TransferRetryPolicy
    /// The maximum number of body bytes per request. Set it if a proxy in front of the server buffers whole requests.
    /// Defaults to nil, which sends as many bytes as the server accepts.
    public var maximumRequestBytes: Int64?
    /// The maximum number of concurrent segments, from 1 to 16. Defaults to 1. Segments require a tus server with the
    /// concatenation extension, and a body that can be opened at an offset. Otherwise the body is sent over a single
    /// connection.
    public var maximumSegments: Int
    /// The minimum size of a segment in bytes. Defaults to 1 MiB.
    public var minimumSegmentBytes: Int64
    /// Whether to send a SHA-256 that the server can check. The bytes are then read twice. Defaults to false.
    ///
    /// The HTTP protocols send the digest of the whole body (`Repr-Digest`, RFC 9530), and of each later part
    /// (`Content-Digest`). tus sends the digest of each part after the creating request, if the server supports the
    /// checksum extension.
    public var sendsDigest: Bool
    /// The minimum time between progress reports. Defaults to 100 ms. Changes of state are reported immediately, and
    /// the last report is always delivered.
    public var progressInterval: Duration

    /// Creates options. The default arguments are the defaults of the properties.
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
