public import Errand
public import ErrandEssentials

/// Counts the attempts of a transfer, and says how long it waits before the next one.
public struct TransferRetries: Sendable {
    /// All attempts so far that have failed or started over.
    public private(set) var attempts = 0
    private var failures = 0
    private var restarts = 0
    private let policy: TransferRetryPolicy

    /// Begins to count.
    public init(_ policy: TransferRetryPolicy) { self.policy = policy }

    /// Counts an attempt that failed, and returns the wait before the next one; nil if none follows.
    ///
    /// - Parameters:
    ///   - madeProgress: whether the attempt moved bytes that no earlier one did.
    ///   - asked: the server's `Retry-After`; nil for none.
    public mutating func wait(madeProgress: Bool = false, asked: Duration? = nil) -> Duration? {
        attempts += 1
        failures = madeProgress ? 0 : failures + 1
        guard failures <= max(0, policy.maximumFailures), attempts < policy.maximumAttempts ?? .max else { return nil }
        return policy.wait(afterFailures: failures, asked: asked)
    }

    /// Counts an attempt that ended with a response, and returns the wait before the next one; nil, and nothing is counted, if
    /// the status won't pass.
    public mutating func wait(after response: HTTPResponse, madeProgress: Bool, now: Date) -> Duration? {
        guard Self.isTemporary(response) else { return nil }
        return wait(madeProgress: madeProgress, asked: response.headers.retryAfter(from: now))
    }

    /// An attempt that goes on has made progress.
    public mutating func countProgress() { failures = 0 }

    /// Counts a start from the beginning, and returns whether the transfer may make it: at most three times, so that a
    /// server on which nothing lasts ends it.
    public mutating func countRestart() -> Bool {
        attempts += 1
        restarts += 1
        return restarts <= 3 && attempts < max(2, policy.maximumAttempts ?? .max)
    }

    /// Whether the same request may get another response when it is sent again.
    public static func isTemporary(_ response: HTTPResponse) -> Bool {
        ErrandError(.unacceptableStatus, "", response: response).isRetryable
    }

    /// Whether the same request may succeed when it is sent again.
    public static func isTemporary(_ error: any Error) -> Bool {
        guard let error = error as? ErrandError else {
            // An error of the transfer's own ends it; one of another filter may pass.
            if error is PauseInterruption || error is TransferError { return error is PauseInterruption }
            return (error as? any RequestFailure)?.isRetryable == true
        }
        // URLSession on Linux reports a connection that is lost, and a body that ends too early, with this code.
        return error.isRetryable || error.code == .transportFailed
    }
}
