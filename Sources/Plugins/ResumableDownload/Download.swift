public import Errand
public import ErrandEssentials
import ErrandSupport
public import ErrandTransfers

/// The handle of a running download. It's a sequence of events, and can pause, resume and cancel the download.
public typealias Download = TransferHandle<URL>

extension TransferHandle where Output == URL {
    /// The URL of the complete file. Waits until the download has finished. If you cancel the waiting task, the
    /// download continues. Throws `TransferError` and `ErrandError`.
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
    /// Leaving the loop, or cancelling its task, cancels the download. The received bytes stay on disk. To resume the
    /// download, send the same request again. The loop throws `TransferError` and `ErrandError`.
    ///
    /// - Parameters:
    ///   - request: The file to download, and its destination.
    ///   - control: A control that pauses and resumes every transfer to which you pass it. By default, each download
    ///     has its own control.
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
    /// The maximum number of segments that are downloaded concurrently, from 1 to 16. The server must support ranges.
    /// Defaults to 1.
    public var maximumSegments: Int
    /// The minimum size of a segment in bytes. Defaults to 1 MiB.
    public var minimumSegmentBytes: Int64
    /// How to name a file if the destination is a directory that already contains a file with the same name. Defaults
    /// to `.number`. If the destination is a file, it's always replaced.
    public var nameCollisionPolicy: NameCollisionPolicy
    /// Whether and when to retry. Defaults to the standard `TransferRetryPolicy`.
    public var retry: TransferRetryPolicy
    /// The minimum time between progress reports. Defaults to 100 ms. Changes of state are reported immediately, and
    /// the last report is always delivered.
    public var progressInterval: Duration
    /// The maximum size in bytes of a file that the download decodes from a content coding such as gzip. Defaults to 4
    /// GiB. Other files aren't limited, but must fit into the free disk space.
    public var maximumDecodedBytes: Int64

    /// Creates options. The default arguments are the defaults of the properties.
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

/// Determines the name of a file if the destination directory already contains a file with the same name.
public enum NameCollisionPolicy: Sendable, Hashable {
    /// Adds a number to the new file's name: `film (2).mp4`, `film (3).mp4`.
    case number
    /// Replaces the old file when the new one is complete.
    case replace
}

/// A request that downloads a file. The file is complete and verified, even if the transfer is interrupted.
///
/// ```swift
/// struct GetVideo: DownloadRequest {
///     var path: String { "videos/7.mp4" }
///     let destination: URL
/// }
/// let file = try await agent.send(GetVideo(destination: folder)).value
/// ```
///
/// The request brings its own filter, so any agent can send it. Its output is the URL of the downloaded file. Only GET
/// requests are resumed and retried (RFC 9110, section 14.2). Requests with other methods are sent once, and HEAD
/// requests are rejected.
public protocol DownloadRequest: FilterProvidingRequest where Output == URL {
    /// The place for the file. This is the URL of a file to replace when the download is complete, or of an existing
    /// directory. In a directory, the server names the file.
    var destination: URL { get }
    /// The expected digest of the file. If you set it, a download can join parts from different mirrors. Defaults to
    /// `nil`. The download then verifies the server's digest, if the server sends a digest.
    var checksum: Checksum? { get }
    /// A name that identifies this download each time it's started. Set it if each start has a newly signed URL.
    /// Defaults to `nil`, which uses the URL.
    var downloadKey: String? { get }
    /// Options for this request. Defaults to `nil`, which uses the filter's options.
    var downloadOptions: DownloadOptions? { get }
}

extension DownloadRequest {
    /// Returns `nil`.
    public var checksum: Checksum? { nil }
    /// Returns `nil`.
    public var downloadKey: String? { nil }
    /// Returns `nil`.
    public var downloadOptions: DownloadOptions? { nil }
    /// Returns a ``ResumableDownloadFilter`` with default options, and a filter that prevents a download from being
    /// resumed for another user.
    public var requiredFilters: [any Filter] { [ResumableDownloadFilter(), .keepingUser] }
}

/// The expected digest of a downloaded file.
///
/// ```swift
/// var checksum: Checksum? { .sha256("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08") }
/// ```
public struct Checksum: Sendable, Hashable, CustomStringConvertible {
    private let text: String

    /// Creates a checksum from the 64 hexadecimal digits of a SHA-256. If the text isn't a SHA-256, the download throws
    /// `TransferError.Code.invalidRequest` before it sends a request.
    public static func sha256(_ hexadecimal: String) -> Checksum { Checksum(text: hexadecimal.lowercased()) }

    /// Creates a checksum from the 32 bytes of a SHA-256.
    public static func sha256(_ bytes: some Sequence<UInt8>) -> Checksum {
        Checksum(text: Hexadecimal.text(Array(bytes)))
    }

    /// A text that names the algorithm and the digest, such as "sha256:9f86…".
    public var description: String { "sha256:\(text)" }

    var bytes: [UInt8]? {
        Hexadecimal.bytes(text).flatMap { $0.count == 32 ? $0 : nil }
    }
}
