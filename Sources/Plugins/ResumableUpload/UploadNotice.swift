import Errand
public import ErrandEssentials

/// An event of an upload apart from the bytes that are sent: a wait, a retry, a restart.
///
/// `Agent.upload` delivers each as ``UploadEvent/notice(_:)``. Accessories receive the same value as the `details` of a note
/// named "upload":
///
/// ```swift
/// if case .note(let note) = event, let notice = note.details as? UploadNotice { print(notice) }
/// ```
///
/// Each `reason` is a sentence for people, without a full stop. Cases may be added: write a `default`.
public enum UploadNotice: Sendable, Hashable {
    /// The process has too many open files; the upload waits for its turn.
    case queued(reason: String)
    /// An attempt failed, and the next one begins after a wait. `attempt` is the number of the failed one in this run, from
    /// 1, or of its segment; `until` is the end of the wait.
    case retrying(attempt: Int, wait: Duration, until: Date, reason: String)
    /// The server has so many bytes, in all segments; the upload continues behind them.
    case continuing(at: Int64)
    /// The bytes that the server has cannot be used, so the upload, or one segment, starts over; `discarded` counts them.
    case restarting(reason: String, discarded: Int64)
    /// The server took the body as an ordinary request: had it been interrupted, it would have started over.
    case ordinary
    /// The server had the whole body already, such as when its response to the last byte was lost.
    case completedEarlier
}

extension UploadNotice: CustomStringConvertible {
    /// One line, as the log shows it.
    public var description: String {
        switch self {
        case .queued(let reason): "waits for its turn: \(reason)"
        case .retrying(let attempt, let wait, _, let reason):
            "attempt \(attempt) failed, next in \(duration: wait): \(reason)"
        case .continuing(let offset): "the server has \(offset) bytes; continues behind them"
        case .restarting(let reason, _): "starts over: \(reason)"
        case .ordinary: "the server has no resumable uploads; it took the body as an ordinary request"
        case .completedEarlier: "the server had the whole body already"
        }
    }
}

extension UploadNotice {
    /// The reason why an attempt failed, as in ``retrying(attempt:wait:until:reason:)``: a sentence for people, without a
    /// full stop, the name of a code or the URL.
    public static func reason(for error: any Error) -> String {
        (error as? ErrandError)?.message ?? (error as? UploadError)?.message ?? error.briefDescription
    }
}
