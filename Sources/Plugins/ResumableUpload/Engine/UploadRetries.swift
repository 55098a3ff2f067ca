import Errand
import ErrandEssentials
import ErrandTransfers

/// The number of attempts of a run, and the wait before the next.
struct UploadRetries {
    private let policy: TransferRetryPolicy
    private var counter: AttemptCounter
    private var inquiries = 0
    /// The most bytes that the server has confirmed: only more of them are progress, so a server that forgets what it
    /// confirmed makes none.
    private var highWaterMark: Int64 = 0

    init(_ policy: TransferRetryPolicy) {
        self.policy = policy
        counter = AttemptCounter(maximumFailures: policy.maximumFailures, maximumAttempts: policy.maximumAttempts)
    }

    var attempts: Int { counter.attempts }

    /// The wait after a failure; nil if no attempt follows.
    mutating func wait(asked: Duration? = nil) -> Duration? {
        counter.countFailure() ? policy.wait(afterFailures: counter.failures, asked: asked) : nil
    }

    mutating func wait(after response: HTTPResponse, now: Date) -> Duration? {
        guard Self.isTemporary(response) else { return nil }
        return wait(asked: response.headers.retryAfter(from: now))
    }

    /// The server has to be asked what it has, which is no progress; false if it was asked too often.
    mutating func countsInquiry() -> Bool {
        inquiries += 1
        return inquiries <= max(1, policy.maximumFailures)
    }

    /// The server has so many bytes.
    mutating func confirmed(_ count: Int64) {
        guard count > highWaterMark else { return }
        (highWaterMark, inquiries) = (count, 0)
        counter.countProgress()
    }

    /// Whether the upload may start over.
    mutating func restarts() -> Bool {
        highWaterMark = 0
        return counter.countRestart()
    }

    /// 423 is tus's word for an upload that another request still holds.
    static func isTemporary(_ response: HTTPResponse) -> Bool {
        response.status == 423 || ErrandError(.unacceptableStatus, "", response: response).isRetryable
    }
}

/// A failure of the server's that another attempt may not meet, without a response that says so.
struct TemporaryFault: Error {
    let reason: String
}

extension Error {
    /// Whether the same request may succeed when it is sent again.
    var isTemporary: Bool {
        if self is TemporaryFault { return true }
        guard let error = self as? ErrandError else {
            // An error of the upload's own ends it; one of another filter may pass.
            return !(self is UploadError) && (self as? any RequestFailure)?.isRetryable == true
        }
        // URLSession on Linux reports a connection that was lost while it sends with this code.
        return error.isRetryable || error.code == .transportFailed
    }
}
