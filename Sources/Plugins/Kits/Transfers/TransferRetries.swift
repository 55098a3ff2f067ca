public import Errand
import ErrandBackoff
public import ErrandEssentials

/// Counts a transfer's attempts and returns the wait before the next one.
public struct TransferRetries: Sendable {
    /// The number of attempts that failed or restarted.
    public private(set) var attempts = 0
    private var failures = 0
    private var restarts = 0
    private let policy: TransferRetryPolicy

    /// Creates a counter.
    public init(_ policy: TransferRetryPolicy) { self.policy = policy }

    /// Counts a failed attempt. Returns the wait before the next attempt, or `nil` after the last attempt.
    ///
    /// - Parameters:
    ///   - madeProgress: Whether the attempt transferred new bytes.
    ///   - asked: The server's `Retry-After`, if any.
    public mutating func wait(madeProgress: Bool = false, asked: Duration? = nil) -> Duration? {
        attempts += 1
        failures = madeProgress ? 0 : failures + 1
        guard failures <= max(0, policy.maximumFailures), attempts < policy.maximumAttempts ?? .max else { return nil }
        return policy.wait(afterFailures: failures, asked: asked)
    }

    /// Counts an attempt that ended with a temporary failure status, and returns the wait before the next attempt. For
    /// other statuses, returns `nil` and doesn't count the attempt.
    public mutating func wait(after response: HTTPResponse, madeProgress: Bool, now: Date) -> Duration? {
        guard Self.isTemporary(response) else { return nil }
        return wait(madeProgress: madeProgress, asked: response.headers.retryAfter(from: now))
    }

    /// Resets the consecutive failures, because an attempt made progress.
    public mutating func countProgress() { failures = 0 }

    /// Counts a restart from the beginning and returns whether the restart is allowed. At most three restarts are
    /// allowed, because a server may keep losing the bytes.
    public mutating func countRestart() -> Bool {
        attempts += 1
        restarts += 1
        return restarts <= 3 && attempts < max(2, policy.maximumAttempts ?? .max)
    }

    /// Returns whether the same request may get a different response if it's sent again.
    public static func isTemporary(_ response: HTTPResponse) -> Bool {
        ErrandError(.unacceptableStatus, "", response: response).isRetryable
    }

    /// Returns whether the same request may succeed if it's sent again.
    public static func isTemporary(_ error: any Error) -> Bool {
        if error is PauseInterruption { return true }
        guard let error = error as? ErrandError else {
            // A `TransferError` is final, but an error from another filter may be temporary.
            return !(error is TransferError) && (error as? any RequestFailure)?.isRetryable == true
        }
        // URLSession on Linux uses this code for lost connections and truncated bodies.
        return error.isRetryable || error.code == .transportFailed
    }
}
