import Errand
import ErrandEssentials

/// The number of attempts of a run, and the wait before the next.
struct RetryState {
    private let rules: DownloadRetryPolicy
    private(set) var attempts = 0
    private var consecutiveFailures = 0
    private var restartCount = 0

    init(_ rules: DownloadRetryPolicy) { self.rules = rules }

    /// The wait before the next attempt; nil if there is none.
    mutating func wait(madeProgress: Bool, asked: Duration? = nil) -> Duration? {
        attempts += 1
        consecutiveFailures = madeProgress ? 0 : consecutiveFailures + 1
        guard madeProgress || consecutiveFailures < rules.maximumConsecutiveFailures,
            attempts < rules.maximumAttempts ?? .max
        else { return nil }
        guard let asked else { return rules.backoff.delay(afterFailures: consecutiveFailures) }
        return asked <= rules.maximumWait ? asked : nil
    }

    mutating func wait(after response: HTTPResponse, madeProgress: Bool, now: Date) -> Duration? {
        guard ErrandError(.unacceptableStatus, "", response: response).isRetryable else { return nil }
        return wait(madeProgress: madeProgress, asked: response.headers.retryAfter(from: now))
    }

    /// Whether the download may start over: at most three times, so that a file that changes all the time ends it.
    mutating func restarts() -> Bool {
        attempts += 1
        restartCount += 1
        return restartCount <= 3 && attempts < max(2, rules.maximumAttempts ?? .max)
    }
}

/// Decides whether an attempt made progress: bytes beyond all earlier attempts at the same version of the file. So the
/// number of attempts that make progress is bounded by the length of the file.
struct HighWaterMark {
    private var received: Int64
    private var validator: Validator?
    private var changes = 0

    init(_ file: PartialFile) { (received, validator) = (file.plan.received, file.representation?.validator) }

    mutating func rises(to file: PartialFile) -> Bool {
        let now = file.representation?.validator
        if now != validator {
            // A file that changes with each attempt makes no progress.
            if validator != nil { changes += 1 }
            (validator, received) = (now, 0)
        }
        guard file.plan.received > received else { return false }
        received = file.plan.received
        return changes <= 3
    }

    /// For a download that starts over.
    mutating func reset() { received = 0 }
}
