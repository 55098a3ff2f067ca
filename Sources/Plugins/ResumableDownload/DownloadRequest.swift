public import Errand
public import ErrandEssentials
import ErrandSupport

/// A request whose response becomes a file, complete and verified, however often the transfer is interrupted.
///
/// ```swift
/// struct GetVideo: DownloadRequest {
///     var path: String { "videos/7.mp4" }
///     let destination: URL
/// }
/// let file = try await agent.send(GetVideo(destination: folder)).value
/// ```
///
/// It brings its filter with it, so any agent sends it. The output is the URL of the file. Only GET is resumed and attempted
/// again (RFC 9110, section 14.2); other methods get one attempt, HEAD is refused.
public protocol DownloadRequest: FilterProvidingRequest where Output == URL {
    /// A file, which is replaced when the new one is complete, or an existing directory, in which the server names the file.
    var destination: URL { get }
    /// The digest that the file must have. Nil, the default, verifies the server's own digest if it sends one. With a
    /// checksum, parts from several mirrors are joined.
    var checksum: Checksum? { get }
    /// The identity of this download across starts; nil, the default, uses the URL. Set one if each start has a newly
    /// signed URL.
    var downloadKey: String? { get }
    /// Options of this request; nil, the default, uses those of the filter.
    var downloadOptions: DownloadOptions? { get }
}

extension DownloadRequest {
    /// None.
    public var checksum: Checksum? { nil }
    /// None: the URL identifies the download.
    public var downloadKey: String? { nil }
    /// None: those of the filter.
    public var downloadOptions: DownloadOptions? { nil }
    /// ``ResumableDownloads`` with its defaults, and the filter that keeps a download with its user.
    public var requiredFilters: [any Filter] { [ResumableDownloads(), .keepingUser] }
}

/// The digest that a downloaded file must have.
///
/// ```swift
/// var checksum: Checksum? { .sha256("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08") }
/// ```
public struct Checksum: Sendable, Hashable, CustomStringConvertible {
    private let text: String

    /// A SHA-256 as 64 hexadecimal digits in any case. Anything else makes the download throw
    /// `TransferError.Code.invalidRequest` before anything is sent.
    public static func sha256(_ hexadecimal: String) -> Checksum { Checksum(text: hexadecimal.lowercased()) }

    /// A SHA-256 as its 32 bytes.
    public static func sha256(_ bytes: some Sequence<UInt8>) -> Checksum {
        Checksum(text: Hexadecimal.text(Array(bytes)))
    }

    /// "sha256:9f86…"
    public var description: String { "sha256:\(text)" }

    /// The 32 bytes; nil if the text is not 64 hexadecimal digits.
    var bytes: [UInt8]? {
        Hexadecimal.bytes(text).flatMap { $0.count == 32 ? $0 : nil }
    }
}
