public import Errand
import ErrandEssentials

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
