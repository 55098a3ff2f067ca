public import ErrandEssentials

/// The state of a download. Cases may be added: write a `default`.
public enum DownloadState: Sendable, Hashable {
    /// The download waits, because the process has too many open files.
    case queued
    /// An attempt has begun; no byte of it has arrived.
    case connecting
    /// Bytes arrive.
    case receiving
    /// An attempt is running, but no byte has arrived for five seconds.
    case stalled
    /// The download waits for `resume()`.
    case paused
    /// The download waits for the next attempt, until a date.
    case waiting(until: Date)
    /// All bytes are on disk; the digest is computed and the checks run.
    case verifying
    /// The file is at its destination.
    case finished
    /// The run ended without the file: it failed or was cancelled.
    case interrupted
}
