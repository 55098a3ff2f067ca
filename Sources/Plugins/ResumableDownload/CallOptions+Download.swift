public import Errand

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
