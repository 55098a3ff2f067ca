import ErrandEssentials
import ErrandTransfers

/// Pauses and resumes an upload, from any thread.
///
/// ```swift
/// let control = UploadControl()
/// let task = Task { try await agent.send(request, options: .upload(control)) }
/// control.pause()      // closes the connection; the server keeps what it has
/// control.resume()     // sends the rest
/// ```
///
/// An upload that would start over keeps its connection and stops reading its body. While an upload is paused, only the
/// request's deadline applies. One control may serve several uploads.
public final class UploadControl: Sendable {
    let pauses = PauseSwitch()

    /// A control that is not paused.
    public init() {}

    /// Whether ``pause()`` was called and ``resume()`` was not.
    public var isPaused: Bool { pauses.isPaused }

    /// Pauses the uploads.
    public func pause() { pauses.pause() }

    /// Resumes the uploads.
    public func resume() { pauses.resume() }
}
