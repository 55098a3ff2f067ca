public import Errand
import ErrandSupport

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

/// The options that a call passes to its download.
struct DownloadCall: Sendable {
    var control: DownloadControl?
    var listeners: [@Sendable (DownloadEvent) -> Void] = []

    enum Key: TagKey {
        static var defaultValue: DownloadCall { DownloadCall() }
    }
}

extension CallOptions {
    /// Options that control and observe a download: `agent.send(request, options: .download { print($0.received) })`. The
    /// closure is called on any thread, one report at a time.
    public static func download(
        _ control: DownloadControl? = nil, progress: (@Sendable (DownloadProgress) -> Void)? = nil
    ) -> CallOptions {
        var options = CallOptions()
        var listener: (@Sendable (DownloadEvent) -> Void)?
        if let progress {
            listener = { event in
                if case .progress(let newest) = event { progress(newest) }
            }
        }
        options.addDownload(control, listener)
        return options
    }

    /// The same with a closure that runs on the main actor, such as one that changes a view:
    /// `.download(progressOnMain: { bar.progress = $0.fraction ?? 0 })`. Of several reports that wait for the main actor it
    /// receives the newest.
    public static func download(
        _ control: DownloadControl? = nil, progressOnMain: @escaping @MainActor @Sendable (DownloadProgress) -> Void
    ) -> CallOptions {
        let listener = MainActorListener(merging: { _, newest in newest }, progressOnMain)
        return download(control, progress: { listener.receive($0) })
    }

    mutating func addDownload(_ control: DownloadControl?, _ listener: (@Sendable (DownloadEvent) -> Void)?) {
        var call = tags[DownloadCall.Key.self]
        call.control = control ?? call.control
        if let listener { call.listeners.append(listener) }
        tags[DownloadCall.Key.self] = call
    }
}
