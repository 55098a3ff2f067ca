public import ErrandHTTP

/// How an activity ended.
public enum ActivityOutcome: Sendable {
    /// With the response that was read, a streamed body left out; nil for an activity that is no request, and for one that
    /// ended with an ``ErrandHTTP/ExpectedError``.
    case success(HTTPResponse?)
    /// With the error that the caller gets.
    case failure(any Error)
    /// By the cause that it names.
    case cancelled(CancellationCause)
}
