import Errand
public import ErrandEssentials
import ErrandHTTPFields

/// The progress and the state of a transfer.
public struct TransferStatus: Sendable, Hashable {
    /// The number of bytes that were received or passed to the network, including earlier runs.
    ///
    /// A download's count decreases only if the file turns out to be shorter. An upload's count decreases if the server
    /// has fewer bytes than expected.
    public var transferred: Int64
    /// The number of bytes that the receiver has. For uploads, the server has confirmed these bytes. For downloads, the
    /// number is the same as ``transferred``.
    public var acknowledged: Int64
    /// The length of the file or body in bytes, or `nil` if unknown.
    public var total: Int64?
    /// Bytes per second over the last few seconds. 0 if unknown, or while no bytes move.
    public var rate: Double
    /// The estimated remaining time, or `nil` if unknown.
    public var timeLeft: Duration?
    /// What the transfer is doing.
    public var state: TransferState

    /// Creates a status, for example for tests and previews. By default, all bytes are acknowledged.
    public init(
        transferred: Int64 = 0, acknowledged: Int64? = nil, total: Int64? = nil, rate: Double = 0,
        timeLeft: Duration? = nil, state: TransferState
    ) {
        self.transferred = transferred
        self.acknowledged = acknowledged ?? transferred
        self.total = total
        self.rate = rate
        self.timeLeft = timeLeft
        self.state = state
    }

    /// The transferred fraction, from 0 to 1, or `nil` if the total is unknown.
    public var fraction: Double? {
        guard let total else { return nil }
        return total > 0 ? min(1, Double(transferred) / Double(total)) : 1
    }
}

/// The state of a transfer. Write a `default` when you `switch` over it, because cases may be added.
public enum TransferState: Sendable, Hashable {
    /// The transfer waits because the process has too many open files.
    case queued
    /// The file to upload is being read before it's sent.
    case preparing
    /// An attempt has begun, but no bytes have moved yet.
    case connecting
    /// A download receives bytes.
    case receiving
    /// An upload sends bytes.
    case sending
    /// An attempt is running, but no bytes have moved for five seconds.
    case stalled
    /// The transfer is paused and waits for `resume()`.
    case paused
    /// The transfer waits for the next attempt, which begins at this date.
    case waiting(until: Date)
    /// All bytes of a download are on disk, and their digest is being verified.
    case verifying
    /// The file is at its destination, or the server has confirmed all bytes.
    case finished
    /// The run failed or was cancelled.
    case interrupted

    var showsRate: Bool { [.connecting, .receiving, .sending, .verifying, .finished].contains(self) }
}

/// An incident of a transfer: a wait, a retry, or a restart.
///
/// A ``TransferHandle`` delivers it as ``TransferEvent/notice(_:)``. Accessories receive it in the `details` of a note
/// named "download" or "upload":
///
/// ```swift
/// if case .note(let note) = event, let notice = note.details as? TransferNotice { print(notice) }
/// ```
///
/// Each `reason` is a sentence for users without a final period. Write a `default` when you `switch` over notices,
/// because cases may be added.
public enum TransferNotice: Sendable, Hashable {
    /// The transfer waits because the process has too many open files.
    case queued(reason: String)
    /// An attempt failed, and the next attempt begins after `wait`, at the date `until`. `attempt` is the number of
    /// failed attempts in this run, or of one upload segment.
    case retrying(attempt: Int, wait: Duration, until: Date, reason: String)
    /// The bytes on disk or on the server can't be used, so the transfer or a segment starts over. `discarded` is the
    /// number of lost bytes.
    case restarting(reason: String, discarded: Int64)
    /// The server sends the whole file instead of the rest. The transfer skips this many bytes at the beginning,
    /// because they are already on disk.
    case skipping(Int64)
    /// The server sends the file only in a content coding. The transport decodes the coding, so the download can't be
    /// resumed.
    case decoding(coding: String)
    /// The upload continues after this many bytes, counted over all segments, because the server already has them.
    case continuing(at: Int64)
    /// The server accepted the upload as an ordinary request, which can't be resumed.
    case ordinary
    /// The server already had the whole body, for example because its last response was lost.
    case completedEarlier
}

extension TransferNotice: CustomStringConvertible {
    /// The text for logs, on one line.
    public var description: String {
        switch self {
        case .queued(let reason): "waits for its turn: \(reason)"
        case .retrying(let attempt, let wait, _, let reason):
            "attempt \(attempt) failed, retrying in \(duration: wait): \(reason)"
        case .restarting(let reason, _): "starts over: \(reason)"
        case .skipping(let count): "the server sends the whole file; \(count) bytes are skipped"
        case .decoding(let coding): "the server sends the file only as \(coding); requesting it again to decode it"
        case .continuing(let offset): "the server has \(offset) bytes; continuing from there"
        case .ordinary: "the server doesn't support resumable uploads; it accepted the body as an ordinary request"
        case .completedEarlier: "the server already had the whole body"
        }
    }
}

extension TransferNotice {
    /// Returns a sentence for users that explains why an attempt failed. It doesn't end with a period, and doesn't
    /// contain the error's code or URL.
    public static func reason(for error: any Error) -> String {
        guard let error = error as? ErrandError else {
            return (error as? TransferError)?.message ?? error.briefDescription
        }
        switch error.code {
        case .truncated: return "the connection ended early (\(error.message))"
        case .connectionLost: return "the connection was lost (\(error.message))"
        case .cannotConnect: return "couldn't connect (\(error.message))"
        case .timedOut: return "the server doesn't respond"
        case .unacceptableStatus:
            return error.response.map { "the server responded with \(ReasonPhrase.describing($0.status))" }
                ?? error.message
        default: return error.message
        }
    }
}
