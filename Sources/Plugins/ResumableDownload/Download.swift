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
