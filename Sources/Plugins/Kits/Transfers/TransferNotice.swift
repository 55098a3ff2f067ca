import Errand
public import ErrandEssentials
import ErrandHTTPFields

/// What happens to a transfer apart from the bytes that move: a wait, a retry, a restart.
///
/// A ``TransferHandle`` delivers each as ``TransferEvent/notice(_:)``. Accessories receive the same value as the `details` of
/// a note named "download" or "upload":
///
/// ```swift
/// if case .note(let note) = event, let notice = note.details as? TransferNotice { print(notice) }
/// ```
///
/// Each `reason` is a sentence for people, without a full stop. Cases may be added: write a `default`.
public enum TransferNotice: Sendable, Hashable {
    /// The process has too many open files; the transfer waits for its turn.
    case queued(reason: String)
    /// An attempt failed, and the next one begins after a wait. `attempt` is the number of the failed one in this run, or in
    /// its segment of an upload, from 1; `until` is the end of the wait.
    case retrying(attempt: Int, wait: Duration, until: Date, reason: String)
    /// The bytes on disk, or those that the server has, can't be used, so the transfer or a segment of it starts over;
    /// `discarded` counts the bytes that are lost.
    case restarting(reason: String, discarded: Int64)
    /// The server of a download sends the whole file instead of the rest; this many bytes at its start are on disk already and
    /// skipped.
    case skipping(Int64)
    /// The server of a download stores the file in a content coding; the transport decodes it, and the download can't be
    /// resumed.
    case decoding(coding: String)
    /// The server of an upload has this many bytes, in all segments; the upload continues after them.
    case continuing(at: Int64)
    /// The server of an upload took the body as an ordinary request: had it been interrupted, it would have started over.
    case ordinary
    /// The server of an upload had the whole body already, such as when its response to the last byte was lost.
    case completedEarlier
}

extension TransferNotice: CustomStringConvertible {
    /// One line, as the log shows it.
    public var description: String {
        switch self {
        case .queued(let reason): "waits for its turn: \(reason)"
        case .retrying(let attempt, let wait, _, let reason):
            "attempt \(attempt) failed, next in \(duration: wait): \(reason)"
        case .restarting(let reason, _): "starts over: \(reason)"
        case .skipping(let count): "the server sends the whole file; \(count) bytes are skipped"
        case .decoding(let coding): "the server sends the file as \(coding) only; it is requested again and decoded"
        case .continuing(let offset): "the server has \(offset) bytes; continues behind them"
        case .ordinary: "the server has no resumable uploads; it took the body as an ordinary request"
        case .completedEarlier: "the server had the whole body already"
        }
    }
}

extension TransferNotice {
    /// The reason why an attempt failed, as in ``retrying(attempt:wait:until:reason:)``: a sentence for people, without a
    /// full stop, the name of a code or the URL.
    public static func reason(for error: any Error) -> String {
        guard let error = error as? ErrandError else {
            return (error as? TransferError)?.message ?? error.briefDescription
        }
        switch error.code {
        case .truncated: return "the connection ended early (\(error.message))"
        case .connectionLost: return "the connection was lost (\(error.message))"
        case .cannotConnect: return "the connection could not be made (\(error.message))"
        case .timedOut: return "the server is silent"
        case .unacceptableStatus:
            return error.response.map { "the server responded with \(ReasonPhrase.describing($0.status))" }
                ?? error.message
        default: return error.message
        }
    }
}
