import Errand
import ErrandEssentials
import ErrandTransfers

/// The number of attempts of a run, and the wait before the next.
struct UploadRetries {
    private var retries: TransferRetries
    private let maximumInquiries: Int
    private var inquiries = 0
    /// The most bytes that the server has confirmed: only more of them are progress, so a server that forgets what it
    /// confirmed makes none.
    private var highWaterMark: Int64 = 0

    init(_ policy: TransferRetryPolicy) {
        retries = TransferRetries(policy)
        maximumInquiries = max(1, policy.maximumFailures)
    }

    var attempts: Int { retries.attempts }

    /// The wait after a failure; nil if no attempt follows.
    mutating func wait() -> Duration? { retries.wait() }

    mutating func wait(after response: HTTPResponse, now: Date) -> Duration? {
        guard Self.isTemporary(response) else { return nil }
        return retries.wait(asked: response.headers.retryAfter(from: now))
    }

    /// The server has to be asked what it has, which is no progress; false if it was asked too often.
    mutating func countsInquiry() -> Bool {
        inquiries += 1
        return inquiries <= maximumInquiries
    }

    /// The server has so many bytes.
    mutating func confirmed(_ count: Int64) {
        guard count > highWaterMark else { return }
        (highWaterMark, inquiries) = (count, 0)
        retries.countProgress()
    }

    /// Counts a start from the beginning, and returns whether the upload may make it.
    mutating func countRestart() -> Bool {
        highWaterMark = 0
        return retries.countRestart()
    }

    /// 423 is tus's word for an upload that another request still holds.
    static func isTemporary(_ response: HTTPResponse) -> Bool {
        response.status == 423 || TransferRetries.isTemporary(response)
    }
}

/// A failure of the server's that another attempt may not meet, without a response that says so.
struct TemporaryFault: RequestFailure {
    let reason: String
    var isRetryable: Bool { true }
}
