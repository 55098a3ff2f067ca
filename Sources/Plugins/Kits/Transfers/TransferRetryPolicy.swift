public import ErrandBackoff

/// Decides when a resumable download or upload tries again after the network or the server failed.
///
/// ```swift
/// let policy = TransferRetryPolicy(maximumFailures: 10, maximumWait: .seconds(300))
/// ```
///
/// Before the next attempt, a transfer waits for the time in `Retry-After` (RFC 9110, section 10.2.3), or else for a
/// ``backoff`` delay after consecutive attempts without progress. It retries only temporary failures; see
/// `ErrandError.isRetryable`.
public struct TransferRetryPolicy: Sendable, Hashable {
    /// The number of consecutive attempts that may fail without a new byte. One more ends the transfer. Defaults to 5.
    public var maximumFailures: Int
    /// The maximum number of attempts in one run, with or without progress. Defaults to `nil`, no limit. The request's
    /// `deadline` limits the time instead.
    public var maximumAttempts: Int?
    /// The delays if the server doesn't ask for one. By default, up to half a second at first and at most a minute.
    public var backoff: Backoff
    /// The longest `Retry-After` that the transfer waits for. A longer one ends the transfer. Defaults to a minute.
    public var maximumWait: Duration

    /// Creates a policy. By default, five attempts in a row may fail, with delays of up to a minute.
    public init(
        maximumFailures: Int = 5, maximumAttempts: Int? = nil,
        backoff: Backoff = Backoff(maximumDelay: .seconds(60)), maximumWait: Duration = .seconds(60)
    ) {
        (self.maximumFailures, self.maximumAttempts) = (maximumFailures, maximumAttempts)
        (self.backoff, self.maximumWait) = (backoff, maximumWait)
    }

    /// The default policy: five consecutive failures, delays of up to a minute, and a `Retry-After` of up to a minute.
    public static let standard = TransferRetryPolicy()
    /// A policy with a single attempt: the first failure ends the transfer.
    public static let off = TransferRetryPolicy(maximumFailures: 0, maximumAttempts: 1)

    /// Returns the wait before the next attempt, or `nil` if the server asks for a wait longer than ``maximumWait``.
    ///
    /// - Parameters:
    ///   - count: The number of consecutive failures.
    ///   - asked: The server's `Retry-After`, if any.
    public func wait(afterFailures count: Int, asked: Duration? = nil) -> Duration? {
        guard let asked else { return backoff.delay(afterFailures: count) }
        return asked <= maximumWait ? asked : nil
    }
}
