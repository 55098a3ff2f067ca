public import ErrandHTTP

/// How an activity ended.
public enum ActivityOutcome: Sendable {
    /// Success, with the response that was read, without a streamed body. Nil if the activity isn't a request, or ended
    /// with an ``ErrandHTTP/ExpectedError``.
    case success(HTTPResponse?)
    /// Failure, with the error that the caller receives.
    case failure(any Error)
    /// Cancellation, with its cause.
    case cancelled(CancellationCause)
}
