public import ErrandEssentials
import ErrandTransfers

/// The state of an upload. Cases may be added: write a `default`.
public enum UploadState: Sendable, Hashable {
    /// The upload waits, because the process has too many open files.
    case queued
    /// The file is read, before anything is sent.
    case preparing
    /// An attempt has begun; no byte of it was sent.
    case connecting
    /// Bytes are sent.
    case sending
    /// An attempt is running, but no byte was sent for five seconds.
    case stalled
    /// The upload waits for `resume()`.
    case paused
    /// The upload waits for the next attempt, until a date.
    case waiting(until: Date)
    /// The server has all bytes, and has responded.
    case finished
    /// The run ended before that: it failed or was cancelled.
    case interrupted
}

extension UploadState: TransferPhase {
    package static var moving: UploadState { .sending }

    package var showsRate: Bool { [.connecting, .sending, .finished].contains(self) }
}
