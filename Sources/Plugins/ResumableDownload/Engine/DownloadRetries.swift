import Errand
import ErrandEssentials
import ErrandTransfers

/// The number of attempts of a run, and the wait before the next.
struct DownloadRetries {
    private let policy: TransferRetryPolicy
    private var counter: AttemptCounter

    init(_ policy: TransferRetryPolicy) {
        self.policy = policy
        counter = AttemptCounter(maximumFailures: policy.maximumFailures, maximumAttempts: policy.maximumAttempts)
    }

    var attempts: Int { counter.attempts }

    /// The wait before the next attempt; nil if there is none.
    mutating func wait(madeProgress: Bool, asked: Duration? = nil) -> Duration? {
        guard counter.countFailure(madeProgress: madeProgress) else { return nil }
        return policy.wait(afterFailures: counter.failures, asked: asked)
    }

    mutating func wait(after response: HTTPResponse, madeProgress: Bool, now: Date) -> Duration? {
        guard ErrandError(.unacceptableStatus, "", response: response).isRetryable else { return nil }
        return wait(madeProgress: madeProgress, asked: response.headers.retryAfter(from: now))
    }

    /// Whether the download may start over.
    mutating func restarts() -> Bool { counter.countRestart() }
}
