/// What a retry reports to accessories as the details of a note named "retry".
public struct RetryNote: Sendable {
    /// The number of the attempt that comes next, from 2.
    public let attempt: Int
    /// How long until then.
    public let wait: Duration
    /// Whether the server asked for the wait.
    public let isAskedFor: Bool
    /// Why the last attempt failed, in words without a header value or a body.
    public let reason: String
}
