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

extension ActivityOutcome: CustomStringConvertible {
    /// "success: 200 https://example.com/a", "failure: timedOut: …" or "cancelled by agent", for logs.
    public var description: String {
        switch self {
        case .success(let response): response.map { "success: \($0)" } ?? "success"
        case .failure(let error): "failure: \(error)"
        case .cancelled(let cause): "cancelled by \(cause)"
        }
    }
}
