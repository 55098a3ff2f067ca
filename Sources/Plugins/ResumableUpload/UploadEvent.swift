public import Errand

/// An event of an upload, in order of time. Cases may be added: write a `default`.
public enum UploadEvent<Output: Sendable>: Sendable {
    /// The bytes sent and the state.
    case progress(UploadProgress)
    /// A wait, a retry or a restart.
    case notice(UploadNotice)
    /// The response that ended the upload; no event follows.
    case finished(Response<Output>)
}
