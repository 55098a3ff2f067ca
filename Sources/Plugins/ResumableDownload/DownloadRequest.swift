public import Errand
public import ErrandEssentials
import ErrandSupport

/// A request whose response becomes a complete, verified file, even if the transfer is interrupted.
///
/// ```swift
/// struct GetVideo: DownloadRequest {
///     var path: String { "videos/7.mp4" }
///     let destination: URL
/// }
/// let file = try await agent.send(GetVideo(destination: folder)).value
/// ```
///
/// The request brings its own filter, so any agent can send it. Its output is the file's URL. Only GET requests are
/// resumed and retried (RFC 9110, section 14.2). Other methods get one attempt, and HEAD is rejected.
public protocol DownloadRequest: FilterProvidingRequest where Output == URL {
    /// A file, which is replaced once the new one is complete, or an existing directory, in which case the server names
    /// the file.
    var destination: URL { get }
    /// The expected digest of the file. Defaults to `nil`: verifies the server's own digest, if it sends one. With a
    /// checksum, parts from different mirrors can be joined.
    var checksum: Checksum? { get }
    /// Identifies this download across starts. Defaults to `nil`: uses the URL. Set a key if each start has a newly
    /// signed URL.
    var downloadKey: String? { get }
    /// Options for this request. Defaults to `nil`: uses the filter's options.
    var downloadOptions: DownloadOptions? { get }
}

extension DownloadRequest {
    /// Defaults to `nil`.
    public var checksum: Checksum? { nil }
    /// Defaults to `nil`.
    public var downloadKey: String? { nil }
    /// Defaults to `nil`.
    public var downloadOptions: DownloadOptions? { nil }
    /// ``ResumableDownloadFilter`` with default options, and a filter that never resumes a download for another user.
    public var requiredFilters: [any Filter] { [ResumableDownloadFilter(), .keepingUser] }
}

/// The expected digest of a downloaded file.
///
/// ```swift
/// var checksum: Checksum? { .sha256("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08") }
/// ```
public struct Checksum: Sendable, Hashable, CustomStringConvertible {
    private let text: String

    /// A SHA-256 as 64 hexadecimal digits, in upper or lower case. With any other text, the download throws
    /// `TransferError.Code.invalidRequest` before sending a request.
    public static func sha256(_ hexadecimal: String) -> Checksum { Checksum(text: hexadecimal.lowercased()) }

    /// A SHA-256 as 32 bytes.
    public static func sha256(_ bytes: some Sequence<UInt8>) -> Checksum {
        Checksum(text: Hexadecimal.text(Array(bytes)))
    }

    /// The text "sha256:9f86…".
    public var description: String { "sha256:\(text)" }

    /// The 32 bytes, or `nil` if the text is invalid.
    var bytes: [UInt8]? {
        Hexadecimal.bytes(text).flatMap { $0.count == 32 ? $0 : nil }
    }
}
