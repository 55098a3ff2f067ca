public import Errand
public import ErrandEssentials
import ErrandSupport
public import ErrandTransfers

/// A running download: the sequence of its events, and the means to pause, resume and cancel it.
public typealias Download = TransferHandle<URL>

extension TransferHandle where Output == URL {
    /// The URL of the complete file. Cancelling a task that awaits it doesn't cancel the download. Throws
    /// `TransferError` and `ErrandError`.
    public var file: URL {
        get async throws { try await response.value }
    }
}

extension Agent {
    /// Starts a download and returns the sequence of its events.
    ///
    /// ```swift
    /// for try await event in agent.download(GetVideo(destination: folder)) {
    ///     switch event {
    ///     case .progress(let status): show(status.fraction ?? 0, status.timeLeft)
    ///     case .notice(let notice): log(notice)
    ///     case .finished(let response): play(response.value)
    ///     }
    /// }
    /// ```
    ///
    /// Leaving the loop, or cancelling its task, cancels the download. The received bytes are kept, and sending the
    /// same request again resumes from there. The loop throws `TransferError` and `ErrandError`.
    ///
    /// - Parameters:
    ///   - request: The file to download, and its destination.
    ///   - control: Pauses and resumes this download, and all others that you pass it to. By default, each download has
    ///     its own control, used by ``Download``'s `pause()` and `resume()`.
    ///   - options: The options of the call.
    public func download<R: DownloadRequest>(
        _ request: R, control: TransferControl = TransferControl(), options: CallOptions = CallOptions()
    ) -> Download {
        TransferHandle(request, on: self, control: control, options: options)
    }
}

/// The options of downloads. The defaults suit most apps.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: url, transport: .curl, filters: [.downloads(DownloadOptions(maximumSegments: 4))])
/// ```
public struct DownloadOptions: Sendable {
    /// The maximum number of segments of a file to fetch concurrently, from 1 to 16, if the server supports ranges.
    /// Defaults to 1. When a segment is complete, it takes over half of the largest remaining part.
    public var maximumSegments: Int
    /// The smallest segment to fetch separately, in bytes. Defaults to 1 MiB.
    public var minimumSegmentBytes: Int64
    /// What to do if the destination is a directory that already contains a file with the same name. Defaults to
    /// `.number`. If the destination is a file, it's always replaced.
    public var nameCollisionPolicy: NameCollisionPolicy
    /// Whether and when to try again after a failure. Defaults to `TransferRetryPolicy`'s standard.
    public var retry: TransferRetryPolicy
    /// The minimum time between progress reports while bytes arrive. Defaults to 100 ms. The last report is always
    /// delivered, and changes of state are reported immediately.
    public var progressInterval: Duration
    /// The maximum size in bytes of a file decoded from a content coding such as gzip. Defaults to 4 GiB. Doesn't limit
    /// other files, but their announced length must fit the free disk space.
    public var maximumDecodedBytes: Int64

    /// Creates options. Every argument has the default of its property.
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

/// What to do if the destination directory already contains a file with the same name.
public enum NameCollisionPolicy: Sendable, Hashable {
    /// Adds a number to the new file's name: `film (2).mp4`, `film (3).mp4`.
    case number
    /// Replaces the old file once the new one is complete.
    case replace
}

/// A request whose response becomes a complete, verified file, even if the transfer is interrupted.
///
/// ```swift
/// struct GetVideo: DownloadRequest {
///     var path: String { "videos/7.mp4" }
///     let destination: URL
/// }
/// let file = try await agent.send(GetVideo(destination: folder)).value
/// ```
///
/// The request brings its own filter, so any agent can send it. Its output is the file's URL. Only GET requests are
/// resumed and retried (RFC 9110, section 14.2). Other methods get one attempt, and HEAD is rejected.
public protocol DownloadRequest: FilterProvidingRequest where Output == URL {
    /// A file, which is replaced once the new one is complete, or an existing directory, in which case the server names
    /// the file.
    var destination: URL { get }
    /// The expected digest of the file. Defaults to `nil`: verifies the server's own digest, if it sends one. With a
    /// checksum, parts from different mirrors can be joined.
    var checksum: Checksum? { get }
    /// A name that identifies this download across starts. Defaults to `nil`, which uses the URL. Set a key if each
    /// start has a newly signed URL.
    var downloadKey: String? { get }
    /// Options for this request. Defaults to `nil`, which uses the filter's options.
    var downloadOptions: DownloadOptions? { get }
}

extension DownloadRequest {
    /// The default implementation returns `nil`, which verifies the server's own digest, if it sends one.
    public var checksum: Checksum? { nil }
    /// The default implementation returns `nil`, which uses the URL.
    public var downloadKey: String? { nil }
    /// The default implementation returns `nil`, which uses the filter's options.
    public var downloadOptions: DownloadOptions? { nil }
    /// Installs a ``ResumableDownloadFilter`` with default options, and a filter that never resumes a download for
    /// another user.
    public var requiredFilters: [any Filter] { [ResumableDownloadFilter(), .keepingUser] }
}

/// The expected digest of a downloaded file.
///
/// ```swift
/// var checksum: Checksum? { .sha256("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08") }
/// ```
public struct Checksum: Sendable, Hashable, CustomStringConvertible {
    private let text: String

    /// Returns a checksum from a SHA-256 as 64 hexadecimal digits, in upper or lower case. With any other text, the
    /// download throws `TransferError.Code.invalidRequest` before sending a request.
    public static func sha256(_ hexadecimal: String) -> Checksum { Checksum(text: hexadecimal.lowercased()) }

    /// Returns a checksum from a SHA-256 as 32 bytes.
    public static func sha256(_ bytes: some Sequence<UInt8>) -> Checksum {
        Checksum(text: Hexadecimal.text(Array(bytes)))
    }

    /// The checksum as text, such as "sha256:9f86…".
    public var description: String { "sha256:\(text)" }

    /// The 32 bytes, or `nil` if the text is invalid.
    var bytes: [UInt8]? {
        Hexadecimal.bytes(text).flatMap { $0.count == 32 ? $0 : nil }
    }
}
