public import Errand
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A request whose answer becomes a file, whole and right, however often the way there is interrupted.
///
/// ```swift
/// struct GetVideo: DownloadRequest {
///     var path: String { "videos/7.mp4" }
///     let destination: URL
/// }
/// let file = try await agent.send(GetVideo(destination: folder)).value
/// ```
///
/// The agent, or the request, needs the filter ``ResumableDownloads``: `filters: [.downloads]`. The output is the file's
/// place. Only GET is resumed and tried again (RFC 9110, section 14.2); other methods get one try, HEAD none.
public protocol DownloadRequest: Request where Output == URL {
    /// A file, which is replaced when the new one is whole, or an existing directory, where the server names the file.
    var destination: URL { get }
    /// What the bytes have to add up to; nil by default, and then the server's own digest counts, if it sends one.
    var checksum: Checksum? { get }
    /// What tells this download from others across starts; nil, the default, takes the URL. Give one where the URL is
    /// signed anew each time.
    var downloadKey: String? { get }
    /// The filter's by default (nil).
    var downloadOptions: DownloadOptions? { get }
}

extension DownloadRequest {
    public var checksum: Checksum? { nil }
    public var downloadKey: String? { nil }
    public var downloadOptions: DownloadOptions? { nil }
}
