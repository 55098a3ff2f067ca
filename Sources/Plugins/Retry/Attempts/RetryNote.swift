/// The details of the note named "retry" that a retry reports to accessories.
public struct RetryNote: Sendable {
    /// The number of the next attempt, from 2.
    public let attempt: Int
    /// The wait before it.
    public let wait: Duration
    /// Whether the server requested the wait.
    public let isAskedFor: Bool
    /// The reason why the last attempt failed, in words without a header value or a body.
    public let reason: String
}
