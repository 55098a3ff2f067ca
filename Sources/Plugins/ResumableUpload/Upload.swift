public import Errand
import ErrandEssentials
public import ErrandTransfers

/// A running upload: its events, in order, and its control.
public typealias Upload<Output: Sendable> = TransferHandle<Output>

extension Agent {
    /// Starts an upload and delivers its events.
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
    /// Leaving the loop, or cancelling its task, cancels the upload; the next start of the same request resumes it where
    /// ``UploadOptions/directory`` is set. The loop throws `TransferError` and `ErrandError`.
    ///
    /// - Parameter control: Pauses and resumes this upload, and any others that you pass it to. By default the upload has
    ///   its own, which ``Upload``'s `pause()` and `resume()` use.
    public func upload<R: UploadRequest>(
        _ request: R, control: TransferControl = TransferControl(), options: CallOptions = CallOptions()
    ) -> Upload<R.Output> {
        TransferHandle(request, on: self, control: control, options: options)
    }
}

/// How an upload is resumed on the wire. Cases may be added: write a `default`.
public enum UploadProtocol: String, Sendable, Hashable, Codable {
    /// Asks the server first, with OPTIONS. A server that does not say gets ``draft8``, which is an ordinary upload for one
    /// that knows no protocol.
    case automatic
    /// Resumable uploads for HTTP (draft-ietf-httpbis-resumable-upload), interop version 8.
    case draft8
    /// The same in interop version 6.
    case draft6
    /// tus 1.0 (tus.io), with the extensions that the server names.
    case tus
}

/// A request whose body reaches the server as a whole, however often the transfer is interrupted.
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
/// It brings its filter with it, so any agent sends it. The output is decoded from the response that ends the upload. A body
/// of which `RequestBody.opensAtOffset` is false starts over after each interruption.
public protocol UploadRequest: FilterProvidingRequest {
    /// Identifies this upload across starts, together with the method and the origin of the URL. Defaults to `nil`: the
    /// method, the URL and the path of the file identify it, or the bytes of another body. Set one if each start has a
    /// newly signed URL, or if the file may be moved before the upload is complete.
    var uploadKey: String? { get }
    /// The metadata of the file for a tus server, such as its `filename`; sent as `Upload-Metadata`. Empty by default.
    var uploadMetadata: [String: String] { get }
    /// Options of this request; nil, the default, uses those of the filter.
    var uploadOptions: UploadOptions? { get }
}

extension UploadRequest {
    /// None: method, URL, and file or bytes identify the upload.
    public var uploadKey: String? { nil }
    /// None.
    public var uploadMetadata: [String: String] { [:] }
    /// None: those of the filter.
    public var uploadOptions: UploadOptions? { nil }
    /// ``ResumableUploads`` with its defaults, and the filter that keeps an upload with its user.
    public var requiredFilters: [any Filter] { [ResumableUploads(), .keepingUser] }
}
