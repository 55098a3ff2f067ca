public import Errand
import ErrandEssentials
import ErrandTransfers

extension Agent {
    /// Starts a download and delivers its events.
    ///
    /// ```swift
    /// for try await event in agent.download(GetVideo(destination: folder)) {
    ///     switch event {
    ///     case .progress(let progress): show(progress.fraction ?? 0, progress.timeLeft)
    ///     case .notice(let notice): log(notice)
    ///     case .finished(let file): play(file)
    ///     }
    /// }
    /// ```
    ///
    /// Leaving the loop, or cancelling its task, cancels the download; the received bytes are kept, and the next start of
    /// the same request resumes from there. The loop throws ``DownloadError`` and `ErrandError`.
    public func download<R: DownloadRequest>(_ request: R, options: CallOptions = CallOptions()) -> Download {
        let control = options.tags[DownloadCall.Key.self].control ?? DownloadControl()
        let feed = EventFeed<DownloadEvent> { if case .progress = $0 { true } else { false } }
        var options = options
        options.addDownload(control) { feed.post($0) }
        let handle = start(request, options: options, completion: Completion { _, _ in feed.finish() })
        return Download(handle: handle, control: control, feed: feed)
    }
}
