public import Errand
public import ErrandEssentials

/// A request whose response becomes a file, whole and right, however often the transfer is interrupted.
///
/// ```swift
/// struct GetVideo: DownloadRequest {
///     var path: String { "videos/7.mp4" }
///     let destination: URL
/// }
/// let file = try await agent.send(GetVideo(destination: folder)).value
/// ```
///
/// It brings its filter with it: any agent sends it. The output is the file's place. Only GET is resumed and attempted again
/// (RFC 9110, section 14.2); other methods get one attempt, HEAD none.
public protocol DownloadRequest: FilterProvidingRequest where Output == URL {
    /// A file, which is replaced when the new one is whole, or an existing directory, where the server names the file.
    var destination: URL { get }
    /// The digest that the file must have; nil by default, and then the server's own digest counts, if it sends one. With
    /// a checksum, parts from several mirrors are joined.
    var checksum: Checksum? { get }
    /// What distinguishes this download from others across starts; nil, the default, takes the URL. Give one where the URL
    /// is signed anew each time.
    var downloadKey: String? { get }
    /// The options of the installed filter by default (nil).
    var downloadOptions: DownloadOptions? { get }
}

extension DownloadRequest {
    public var checksum: Checksum? { nil }
    public var downloadKey: String? { nil }
    public var downloadOptions: DownloadOptions? { nil }
    /// ``ResumableDownloads`` with its defaults, unless the request's own filters have one.
    public var requiredFilters: [any Filter] {
        filters.contains { $0 is ResumableDownloads } ? [] : [ResumableDownloads()]
    }
}
