public import Errand
import ErrandEssentials
import ErrandTransfers

extension Agent {
    /// Starts an upload and delivers its events.
    ///
    /// ```swift
    /// for try await event in agent.upload(SendVideo(file: file)) {
    ///     switch event {
    ///     case .progress(let progress): show(progress.fraction ?? 0, progress.timeLeft)
    ///     case .notice(let notice): log(notice)
    ///     case .finished(let response): show(response.value)
    ///     }
    /// }
    /// ```
    ///
    /// Leaving the loop, or cancelling its task, cancels the upload; the next start of the same request resumes it where
    /// ``UploadOptions/directory`` is set. The loop throws ``UploadError`` and `ErrandError`.
    public func upload<R: UploadRequest>(_ request: R, options: CallOptions = CallOptions()) -> Upload<R.Output> {
        let control = options.tags[UploadCall.Key.self].control ?? UploadControl()
        let feed = EventFeed<UploadReport> { if case .progress = $0 { true } else { false } }
        var options = options
        options.addUpload(control) { feed.post($0) }
        let handle = start(request, options: options, completion: Completion { _, _ in feed.finish() })
        return Upload(handle: handle, control: control, feed: feed)
    }
}
