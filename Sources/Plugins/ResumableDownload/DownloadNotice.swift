import Errand
public import ErrandEssentials
import ErrandHTTPFields

/// An event of a download apart from the bytes that arrive: a wait, a retry, a restart.
///
/// `Agent.download` delivers each as ``DownloadEvent/notice(_:)``. Accessories receive the same value as the `details` of
/// a note named "download":
///
/// ```swift
/// if case .note(let note) = event, let notice = note.details as? DownloadNotice { print(notice) }
/// ```
///
/// Each `reason` is a sentence for people, without a full stop. Cases may be added: write a `default`.
public enum DownloadNotice: Sendable, Hashable {
    /// The process has too many open files; the download waits for its turn.
    case queued(reason: String)
    /// An attempt failed, and the next one begins after a wait. `attempt` is the number of the failed one in this run,
    /// from 1; `until` is the end of the wait.
    case retrying(attempt: Int, wait: Duration, until: Date, reason: String)
    /// The bytes on disk cannot be resumed, so the download starts over; `discarded` counts the bytes that are lost.
    case restarting(reason: String, discarded: Int64)
    /// The server sends the whole file instead of the rest; this many bytes at its start are on disk already and skipped.
    case skipping(Int64)
    /// The server stores the file in a content coding; the transport decodes it, and the download cannot be resumed.
    case decoding(coding: String)
}

extension DownloadNotice: CustomStringConvertible {
    /// One line, as the log shows it.
    public var description: String {
        switch self {
        case .queued(let reason): "waits for its turn: \(reason)"
        case .retrying(let attempt, let wait, _, let reason):
            "attempt \(attempt) failed, next in \(duration: wait): \(reason)"
        case .restarting(let reason, _): "starts over: \(reason)"
        case .skipping(let count): "the server sends the whole file; \(count) bytes are skipped"
        case .decoding(let coding): "the server sends the file as \(coding) only; it is requested again and decoded"
        }
    }
}

extension DownloadNotice {
    /// The reason why an attempt failed, as in ``retrying(attempt:wait:until:reason:)``: a sentence for people, without
    /// a full stop, the name of a code or the URL.
    public static func reason(for error: any Error) -> String {
        guard let error = error as? ErrandError else {
            return (error as? DownloadError)?.message ?? error.briefDescription
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
