public import Errand
import ErrandEssentials
public import ErrandTransfers

/// A running upload: its events in order, and its control.
public typealias Upload<Output: Sendable> = TransferHandle<Output>

extension Agent {
    /// Starts an upload and returns the sequence of its events.
    ///
    /// ```swift
    /// for try await event in agent.upload(SendVideo(file: file)) {
    ///     switch event {
    ///     case .progress(let status): show(status.fraction ?? 0, status.timeLeft)
    ///     case .notice(let notice): log(notice)
    ///     case .finished(let response): show(response.value)
    ///     }
    /// }
    /// ```
    ///
    /// Leaving the loop, or cancelling its task, cancels the upload. If ``UploadOptions/directory`` is set, sending the
    /// same request again resumes it. The loop throws `TransferError` and `ErrandError`.
    ///
    /// - Parameter control: Pauses and resumes this upload, and all others that you pass it to. By default, each upload
    ///   has its own control, used by ``Upload``'s `pause()` and `resume()`.
    public func upload<R: UploadRequest>(
        _ request: R, control: TransferControl = TransferControl(), options: CallOptions = CallOptions()
    ) -> Upload<R.Output> {
        TransferHandle(request, on: self, control: control, options: options)
    }
}

/// The protocol for resuming uploads. More cases may be added, so write a `default`.
public enum UploadProtocol: String, Sendable, Hashable, Codable {
    /// Asks the server with an OPTIONS request. If the response doesn't identify a protocol, uses ``draft8``, which a
    /// server without support for it handles as an ordinary upload.
    case automatic
    /// Resumable uploads for HTTP (draft-ietf-httpbis-resumable-upload), interop version 8.
    case draft8
    /// Resumable uploads for HTTP, interop version 6.
    case draft6
    /// tus 1.0 (tus.io), with the extensions that the server announces.
    case tus
}

/// A request whose whole body reaches the server, even if the transfer is interrupted.
///
/// ```swift
/// struct SendVideo: UploadRequest {
///     typealias Output = Video
///     let file: URL
///     var method: HTTPMethod { .post }
///     var path: String { "videos" }
///     var body: RequestBody { .file(file) }
/// }
/// let video = try await agent.send(SendVideo(file: file)).value
/// ```
///
/// The request brings its own filter, so any agent can send it. Its output is decoded from the response that completes
/// the upload. If the body's `RequestBody.opensAtOffset` is `false`, the upload starts over after each interruption.
public protocol UploadRequest: FilterProvidingRequest {
    /// Identifies this upload across starts, together with the method and the URL's origin. Defaults to `nil`: uses the
    /// method, the URL, and the file's path, or the bytes of other bodies. Set a key if each start has a newly signed
    /// URL, or if the file may move before the upload is complete.
    var uploadKey: String? { get }
    /// Metadata for a tus server, such as the `filename`. Sent as `Upload-Metadata`. Defaults to an empty dictionary.
    var uploadMetadata: [String: String] { get }
    /// Options for this request. Defaults to `nil`: uses the filter's options.
    var uploadOptions: UploadOptions? { get }
}

extension UploadRequest {
    /// Defaults to `nil`.
    public var uploadKey: String? { nil }
    /// Defaults to an empty dictionary.
    public var uploadMetadata: [String: String] { [:] }
    /// Defaults to `nil`.
    public var uploadOptions: UploadOptions? { nil }
    /// ``ResumableUploadFilter`` with default options, and a filter that never resumes an upload for another user.
    public var requiredFilters: [any Filter] { [ResumableUploadFilter(), .keepingUser] }
}
