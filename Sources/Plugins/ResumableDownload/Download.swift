public import Errand
public import ErrandEssentials
public import ErrandTransfers

/// A running download: its events, in order, and its control.
public typealias Download = TransferHandle<URL>

extension TransferHandle where Output == URL {
    /// The file, once it is complete. Cancelling the task that awaits this does not cancel the download. Throws
    /// `TransferError` and `ErrandError`.
    public var file: URL {
        get async throws { try await response.value }
    }
}

extension Agent {
    /// Starts a download and delivers its events.
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
    /// Leaving the loop, or cancelling its task, cancels the download; the received bytes are kept, and the next start of
    /// the same request resumes from there. The loop throws `TransferError` and `ErrandError`.
    ///
    /// - Parameter control: Pauses and resumes this download, and any others that you pass it to. By default the download has
    ///   its own, which ``Download``'s `pause()` and `resume()` use.
    public func download<R: DownloadRequest>(
        _ request: R, control: TransferControl = TransferControl(), options: CallOptions = CallOptions()
    ) -> Download {
        TransferHandle(request, on: self, control: control, options: options)
    }
}

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

/// The policy of a download into a directory where a file with the same name exists.
public enum NameCollisionPolicy: Sendable, Hashable {
    /// The new file gets a number: `film (2).mp4`, `film (3).mp4`.
    case number
    /// The new file replaces the old one when it is complete.
    case replace
}
