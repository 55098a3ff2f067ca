import Errand
import ErrandEssentials

/// The number of attempts of a run, and the wait before the next.
struct UploadRetries {
    private let policy: UploadRetryPolicy
    private(set) var attempts = 0
    private var consecutiveFailures = 0
    private var restartCount = 0
    private var inquiries = 0
    /// The most bytes that the server has confirmed: only more of them are progress, so a server that forgets what it
    /// confirmed makes none.
    private var highWaterMark: Int64 = 0

    init(_ policy: UploadRetryPolicy) { self.policy = policy }

    /// The wait after a failure; nil if no attempt follows.
    mutating func wait(asked: Duration? = nil) -> Duration? {
        attempts += 1
        consecutiveFailures += 1
        guard consecutiveFailures < policy.maximumConsecutiveFailures, attempts < policy.maximumAttempts ?? .max else {
            return nil
        }
        guard let asked else { return policy.backoff.delay(afterFailures: consecutiveFailures) }
        return asked <= policy.maximumWait ? asked : nil
    }

    mutating func wait(after response: HTTPResponse, now: Date) -> Duration? {
        guard Self.isTemporary(response) else { return nil }
        return wait(asked: response.headers.retryAfter(from: now))
    }

    /// The server has to be asked what it has, which is no progress; false if it was asked too often.
    mutating func countsInquiry() -> Bool {
        inquiries += 1
        return inquiries <= policy.maximumConsecutiveFailures
    }

    /// The server has so many bytes.
    mutating func confirmed(_ count: Int64) {
        guard count > highWaterMark else { return }
        (highWaterMark, consecutiveFailures, inquiries) = (count, 0, 0)
    }

    /// Whether the upload may start over: at most three times, so that a server that forgets all the time ends it.
    mutating func restarts() -> Bool {
        attempts += 1
        restartCount += 1
        highWaterMark = 0
        return restartCount <= 3 && attempts < max(2, policy.maximumAttempts ?? .max)
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

    /// Whether no server received a byte of the request.
    var reachedNoServer: Bool {
        guard let error = self as? ErrandError, error.response == nil else { return false }
        return error.code == .cannotConnect || error.code == .nameLookupFailed
    }
}
