import Errand
import ErrandEssentials
import ErrandTransfers

struct UploadRetries {
    private var retries: TransferRetries
    private let maximumInquiries: Int
    private var inquiries = 0
    /// The highest number of bytes that the server has confirmed. If the server loses bytes, only bytes above this
    /// number count as progress.
    private var highWaterMark: Int64 = 0

    init(_ policy: TransferRetryPolicy) {
        retries = TransferRetries(policy)
        maximumInquiries = max(1, policy.maximumFailures)
    }

    var attempts: Int { retries.attempts }

    mutating func wait() -> Duration? { retries.wait() }

    mutating func wait(after response: HTTPResponse, now: Date) -> Duration? {
        guard Self.isTemporary(response) else { return nil }
        return retries.wait(asked: response.headers.retryAfter(from: now))
    }

    /// Counts a request that asks for the server's offset. Such a request isn't progress. Returns false if the server
    /// was asked too often.
    mutating func countsInquiry() -> Bool {
        inquiries += 1
        return inquiries <= maximumInquiries
    }

    mutating func confirmed(_ count: Int64) {
        guard count > highWaterMark else { return }
        (highWaterMark, inquiries) = (count, 0)
        retries.countProgress()
    }

    mutating func countRestart() -> Bool {
        highWaterMark = 0
        return retries.countRestart()
    }

    /// Whether the failure that a response reports may be temporary. tus servers send 423 while another request locks
    /// the upload.
    static func isTemporary(_ response: HTTPResponse) -> Bool {
        response.status == 423 || TransferRetries.isTemporary(response)
    }
}

/// A failure that may be temporary, although the server didn't send a response.
struct TemporaryFault: RequestFailure, CustomStringConvertible {
    let reason: String
    var description: String { reason }
    var isRetryable: Bool { true }
}
