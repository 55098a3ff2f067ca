/// The policy for another attempt after the network or the server failed, of downloads and uploads that resume.
///
/// ```swift
/// let policy = TransferRetryPolicy(maximumFailures: 10, maximumWait: .seconds(300))
/// ```
///
/// Between two attempts a transfer waits: as long as `Retry-After` says (RFC 9110, section 10.2.3), otherwise as its
/// ``backoff`` says for the attempts without progress. Only temporary failures are followed by another attempt; see
/// `ErrandError.isRetryable`.
public struct TransferRetryPolicy: Sendable, Hashable {
    /// The number of attempts in a row that may fail without a new byte; one more ends the transfer. 5 by default.
    public var maximumFailures: Int
    /// Attempts in one run, with progress or without; nil, the default, for no limit. A `deadline` of the request
    /// limits the time instead.
    public var maximumAttempts: Int?
    /// The waits where the server asks for none: up to half a second at first, and a minute at most, by default.
    public var backoff: Backoff
    /// The longest `Retry-After` that the transfer waits for; a longer one ends it. A minute by default.
    public var maximumWait: Duration

    /// Makes a policy; every argument has a default.
    public init(
        maximumFailures: Int = 5, maximumAttempts: Int? = nil,
        backoff: Backoff = Backoff(maximumDelay: .seconds(60)), maximumWait: Duration = .seconds(60)
    ) {
        (self.maximumFailures, self.maximumAttempts) = (maximumFailures, maximumAttempts)
        (self.backoff, self.maximumWait) = (backoff, maximumWait)
    }

    /// The defaults.
    public static let standard = TransferRetryPolicy()
    /// A single attempt.
    public static let off = TransferRetryPolicy(maximumFailures: 0, maximumAttempts: 1)

    /// The wait before the next attempt; nil where the server asks for one that is longer than ``maximumWait``.
    ///
    /// - Parameters:
    ///   - count: the failures in a row.
    ///   - asked: the server's `Retry-After`; nil for none.
    public func wait(afterFailures count: Int, asked: Duration? = nil) -> Duration? {
        guard let asked else { return backoff.delay(afterFailures: count) }
        return asked <= maximumWait ? asked : nil
    }
}
