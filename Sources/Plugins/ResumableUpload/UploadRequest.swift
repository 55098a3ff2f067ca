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
    /// The identity of this upload across starts; nil, the default, uses the method, the URL, and the name and length of
    /// the file. Set one if each start has a newly signed URL, or if two files of one name are sent at the same time.
    var uploadKey: String? { get }
    /// The metadata of the file for a tus server, such as its `filename`; sent as `Upload-Metadata`. Empty by default.
    var uploadMetadata: [String: String] { get }
    /// Options of this request; nil, the default, uses those of the filter.
    var uploadOptions: UploadOptions? { get }
}

extension UploadRequest {
    /// None: method, URL and file identify the upload.
    public var uploadKey: String? { nil }
    /// None.
    public var uploadMetadata: [String: String] { [:] }
    /// None: those of the filter.
    public var uploadOptions: UploadOptions? { nil }
    /// ``ResumableUploads`` with its defaults.
    public var requiredFilters: [any Filter] { [ResumableUploads()] }
}
