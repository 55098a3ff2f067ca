public import ErrandEssentials

/// What happens to a download beside the bytes that arrive: waits, retries, restarts.
///
/// `Agent.download` delivers each as ``DownloadEvent/notice(_:)``. Accessories receive the same value as the `details` of
/// a note named "download":
///
/// ```swift
/// if case .note(let note) = event, let notice = note.details as? DownloadNotice { print(notice) }
/// ```
///
/// Cases may be added: write a `default`.
public enum DownloadNotice: Sendable, Hashable {
    /// The process has too many open files; the download waits for its turn.
    case queued(reason: String)
    /// An attempt failed, and the next one begins after a wait. `attempt` is the number of the failed one in this run,
    /// from 1; `date` is the end of the wait.
    case retrying(attempt: Int, wait: Duration, until: Date, reason: String)
    /// The bytes on disk cannot be continued, so the download begins anew; so many bytes are discarded.
    case restarting(reason: String, discarded: Int64)
    /// The server sends the whole file instead of the rest; so many bytes at its start are on disk and skipped.
    case skipping(Int64)
    /// The server stores the file in a content coding; the transport decodes it, and the download cannot be resumed.
    case decoding(coding: String)
}

extension DownloadNotice: CustomStringConvertible {
    /// One line, as the log shows it.
    public var description: String {
        switch self {
        case .queued(let reason): "waits for its turn: \(reason)"
        case .retrying(let attempt, let wait, _, let reason): "attempt \(attempt) failed, next in \(wait): \(reason)"
        case .restarting(let reason, _): "starts over: \(reason)"
        case .skipping(let count): "the server sends the whole file; \(count) bytes are skipped"
        case .decoding(let coding): "the server sends the file as \(coding) only; it is requested again and decoded"
        }
    }
}
