public import Errand
public import ErrandTransfers

/// A running upload: its events, in order, and its control.
public typealias Upload<Output: Sendable> = TransferHandle<Output>

extension Agent {
    /// Starts an upload and delivers its events.
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
    /// Leaving the loop, or cancelling its task, cancels the upload; the next start of the same request resumes it where
    /// ``UploadOptions/directory`` is set. The loop throws `TransferError` and `ErrandError`.
    ///
    /// - Parameter control: Pauses and resumes this upload, and any others that you pass it to. By default the upload has
    ///   its own, which ``Upload``'s `pause()` and `resume()` use.
    public func upload<R: UploadRequest>(
        _ request: R, control: TransferControl = TransferControl(), options: CallOptions = CallOptions()
    ) -> Upload<R.Output> {
        TransferHandle(request, on: self, control: control, options: options)
    }
}
