public import ErrandEssentials

/// An event of a download, in order of time. Cases may be added: write a `default`.
public enum DownloadEvent: Sendable, Hashable {
    /// The bytes received and the state. The last one before the end counts all received bytes.
    case progress(DownloadProgress)
    /// A wait, a retry or a restart.
    case notice(DownloadNotice)
    /// The file is complete, at this URL; no event follows.
    case finished(URL)
}
