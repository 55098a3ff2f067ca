import ErrandEssentials
import ErrandTransfers

/// Pauses and resumes a download, from any thread.
///
/// ```swift
/// let control = DownloadControl()
/// let task = Task { try await agent.send(request, options: .download(control)) }
/// control.pause()      // closes the connections, keeps the received bytes
/// control.resume()     // requests the rest
/// ```
///
/// A download that cannot be resumed keeps its connection and stops reading. While a download is paused, only the
/// request's deadline applies. One control may serve several downloads.
public final class DownloadControl: Sendable {
    let pauses = PauseSwitch()

    /// A control that is not paused.
    public init() {}

    /// Whether ``pause()`` was called and ``resume()`` was not.
    public var isPaused: Bool { pauses.isPaused }

    /// Pauses the downloads; the received bytes are kept.
    public func pause() { pauses.pause() }

    /// Resumes the downloads.
    public func resume() { pauses.resume() }
}
