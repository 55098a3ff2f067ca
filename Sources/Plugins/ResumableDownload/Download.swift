public import Errand
public import ErrandEssentials
public import ErrandTransfers

/// A running download: its events in order, and its control.
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
    /// - Parameter control: Pauses and resumes this download, and all others that you pass it to. By default, each
    ///   download has its own control, used by ``Download``'s `pause()` and `resume()`.
    public func download<R: DownloadRequest>(
        _ request: R, control: TransferControl = TransferControl(), options: CallOptions = CallOptions()
    ) -> Download {
        TransferHandle(request, on: self, control: control, options: options)
    }
}

/// Options for downloads. All defaults are safe.
///
/// ```swift
/// let agent = NetworkAgent(baseURL: url, transport: .curl, filters: [.downloads(DownloadOptions(maximumSegments: 4))])
/// ```
public struct DownloadOptions: Sendable {
    /// The maximum number of segments of a file to fetch concurrently, from 1 to 16, if the server supports ranges.
    /// Defaults to 1. When a segment is complete, it takes over half of the largest remaining part.
    public var maximumSegments: Int
    /// The minimum size of a segment in bytes. Defaults to 1 MiB.
    public var minimumSegmentBytes: Int64
    /// What to do if the destination is a directory that already contains a file with the same name. Defaults to
    /// `.number`. If the destination is a file, it's always replaced.
    public var nameCollisionPolicy: NameCollisionPolicy
    /// Whether and when to try again after a failure.
    public var retry: TransferRetryPolicy
    /// The minimum time between progress reports while bytes arrive. Defaults to 100 ms. The last report is always
    /// delivered, and changes of state are reported immediately.
    public var progressInterval: Duration
    /// The maximum size in bytes of a file decoded from a content coding such as gzip. Defaults to 4 GiB. Doesn't limit
    /// other files, but their announced length must fit the free disk space.
    public var maximumDecodedBytes: Int64

    /// Creates options. All arguments have defaults.
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
