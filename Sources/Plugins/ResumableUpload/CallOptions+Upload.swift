public import Errand

/// The options that a call passes to its upload.
struct UploadCall: Sendable {
    var control: UploadControl?
    var listeners: [@Sendable (UploadReport) -> Void] = []

    enum Key: TagKey {
        static var defaultValue: UploadCall { UploadCall() }
    }
}

extension CallOptions {
    /// Options that control and observe an upload: `agent.send(request, options: .upload { print($0.sent) })`. The closure is
    /// called on any thread, one report at a time.
    public static func upload(
        _ control: UploadControl? = nil, progress: (@Sendable (UploadProgress) -> Void)? = nil
    ) -> CallOptions {
        var options = CallOptions()
        var listener: (@Sendable (UploadReport) -> Void)?
        if let progress {
            listener = { report in
                if case .progress(let newest) = report { progress(newest) }
            }
        }
        options.addUpload(control, listener)
        return options
    }

    /// The same with a closure that runs on the main actor, such as one that changes a view:
    /// `.upload(progressOnMain: { bar.progress = $0.fraction ?? 0 })`. Of several reports that wait for the main actor it
    /// receives the newest.
    public static func upload(
        _ control: UploadControl? = nil, progressOnMain: @escaping @MainActor @Sendable (UploadProgress) -> Void
    ) -> CallOptions {
        let listener = MainActorListener(merging: { _, newest in newest }, progressOnMain)
        return upload(control, progress: { listener.receive($0) })
    }

    mutating func addUpload(_ control: UploadControl?, _ listener: (@Sendable (UploadReport) -> Void)?) {
        var call = tags[UploadCall.Key.self]
        call.control = control ?? call.control
        if let listener { call.listeners.append(listener) }
        tags[UploadCall.Key.self] = call
    }
}
