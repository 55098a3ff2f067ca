public import Errand

/// The policy for another attempt after the network or the server failed.
///
/// ```swift
/// UploadOptions(retry: UploadRetryPolicy(maximumConsecutiveFailures: 10))
/// ```
///
/// Between two attempts an upload waits: as long as `Retry-After` says (RFC 9110, section 10.2.3), otherwise as its
/// ``backoff`` says for the attempts without progress. Only temporary failures are followed by another attempt; see
/// `ErrandError.isRetryable`.
public struct UploadRetryPolicy: Sendable, Hashable {
    /// Consecutive attempts without a new byte on the server after which the upload fails; 5 by default.
    public var maximumConsecutiveFailures: Int
    /// Attempts in one run, with progress or without; nil, the default, for no limit. A `deadline` of the request limits
    /// the time instead.
    public var maximumAttempts: Int?
    /// The waits where the server asks for none: up to half a second at first, and a minute at most, by default.
    public var backoff: Backoff
    /// The longest `Retry-After` that the upload waits for; a longer one ends it. A minute by default.
    public var maximumWait: Duration

    /// Makes a policy; every argument has a default.
    public init(
        maximumConsecutiveFailures: Int = 5, maximumAttempts: Int? = nil,
        backoff: Backoff = Backoff(maximumDelay: .seconds(60)), maximumWait: Duration = .seconds(60)
    ) {
        self.maximumConsecutiveFailures = maximumConsecutiveFailures
        self.maximumAttempts = maximumAttempts
        self.backoff = backoff
        self.maximumWait = maximumWait
    }

    /// The defaults.
    public static let standard = UploadRetryPolicy()
    /// A single attempt.
    public static let off = UploadRetryPolicy(maximumConsecutiveFailures: 1, maximumAttempts: 1)
}
