public import ErrandHTTP

/// How an activity ended.
public enum ActivityOutcome: Sendable {
    /// The activity succeeded, with the response that was read, without a streamed body. Nil if the activity isn't a
    /// request, or ended with an ``ErrandHTTP/ExpectedError``.
    case success(HTTPResponse?)
    /// The activity failed with the error that the caller receives.
    case failure(any Error)
    /// The activity was cancelled.
    case cancelled(CancellationCause)
}
