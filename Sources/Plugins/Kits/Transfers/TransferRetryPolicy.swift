public import ErrandBackoff

/// Decides whether and when a resumable download or upload continues after a failure.
///
/// ```swift
/// let policy = TransferRetryPolicy(maximumFailures: 10, maximumWait: .seconds(300))
/// ```
///
/// The wait is the time in `Retry-After` (RFC 9110, section 10.2.3), or else a ``backoff`` delay that grows with
/// consecutive attempts without progress. Only temporary failures are retried. See `ErrandError.isRetryable`.
public struct TransferRetryPolicy: Sendable, Hashable {
    /// The number of consecutive attempts that may fail without transferring new bytes. One more such failure ends the
    /// transfer. Defaults to 5.
    public var maximumFailures: Int
    /// The maximum number of attempts in one run. Defaults to `nil`, which means no limit. To limit the time, use the
    /// request's `deadline`.
    public var maximumAttempts: Int?
    /// The delays to use if the server doesn't send `Retry-After`. By default, random delays of up to half a second at
    /// first, and later up to a minute.
    public var backoff: Backoff
    /// The longest `Retry-After` to wait for. A longer time ends the transfer. Defaults to a minute.
    public var maximumWait: Duration

    /// Creates a policy.
    public init(
        maximumFailures: Int = 5, maximumAttempts: Int? = nil,
        backoff: Backoff = Backoff(maximumDelay: .seconds(60)), maximumWait: Duration = .seconds(60)
    ) {
        (self.maximumFailures, self.maximumAttempts) = (maximumFailures, maximumAttempts)
        (self.backoff, self.maximumWait) = (backoff, maximumWait)
    }

    /// The default policy.
    public static let standard = TransferRetryPolicy()
    /// A policy without retries.
    public static let off = TransferRetryPolicy(maximumFailures: 0, maximumAttempts: 1)

    /// Returns the wait before the next attempt, or `nil` if the server asks for more than ``maximumWait``.
    ///
    /// - Parameters:
    ///   - count: The number of consecutive failures.
    ///   - asked: The server's `Retry-After`, if any.
    public func wait(afterFailures count: Int, asked: Duration? = nil) -> Duration? {
        guard let asked else { return backoff.delay(afterFailures: count) }
        return asked <= maximumWait ? asked : nil
    }
}
