public import Errand
import ErrandEssentials

/// The failure of a download, beyond those that the network and the server report in an `ErrandError`.
///
/// ```swift
/// do { _ = try await agent.send(GetVideo(destination: folder)) } catch let error as DownloadError where error.code == .noSpace {
///     show(error.localizedDescription)
/// }
/// ```
///
/// A failure loses nothing: the previous file stays in place, and the received bytes are kept where they can be resumed.
public struct DownloadError: Error, Sendable {
    /// The kind of failure; codes may be added.
    public typealias Code = FailureCode<DownloadError>

    /// The kind of failure.
    public let code: Code
    /// The expected and the actual result, in a sentence for people, without a full stop. Files are named by their whole
    /// paths.
    public let message: String
    /// The request of the download; nil for what is asked of a directory.
    public internal(set) var request: HTTPRequest?

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Whether the same download may succeed when it is sent again later, with nothing changed on this side.
    public var isRetryable: Bool {
        [.busy, .serverDigestMismatch, .fileFailed, .mirrorMismatch, .changedTooOften, .tooManyOpenFiles].contains(code)
    }

    /// One line: the code, the request with its secrets masked, and the message.
    public var description: String {
        [code.description, request?.description, message].compactMap(\.self).joined(separator: ": ")
    }
}

extension FailureCode<DownloadError> {
    /// A method, a `Range` of the request's own, a checksum or a destination that makes no sense for a download.
    public static var invalidRequest: Self { Self("invalidRequest", 1) }
    /// Another download, perhaps in another process, writes to the same destination.
    public static var busy: Self { Self("busy", 2) }
    /// The directory of the destination does not exist.
    public static var noDirectory: Self { Self("noDirectory", 3) }
    /// A directory, a device or a symbolic link exists in place of the file.
    public static var notAFile: Self { Self("notAFile", 4) }
    /// The process may not write to the destination's directory, or the file system is read-only.
    public static var noPermission: Self { Self("noPermission", 5) }
    /// The file does not fit on the disk, into the user's quota, or into a file of this file system.
    public static var noSpace: Self { Self("noSpace", 6) }
    /// Any other failure of the file system.
    public static var fileFailed: Self { Self("fileFailed", 7) }
    /// The process or the system has too many open files. A download waits until that has passed;
    /// ``ResumableDownloads/partialDownloads(in:)`` throws it.
    public static var tooManyOpenFiles: Self { Self("tooManyOpenFiles", 8) }
    /// The whole file arrived, and its SHA-256 is not the request's ``DownloadRequest/checksum``.
    public static var expectedChecksumMismatch: Self { Self("expectedChecksumMismatch", 9) }
    /// The bytes do not have the server's own digest (RFC 9530), also after they were fetched a second time.
    public static var serverDigestMismatch: Self { Self("serverDigestMismatch", 10) }
    /// The server sends the file only in a content coding that the transport cannot decode; the message names it.
    public static var unsupportedContentCoding: Self { Self("unsupportedContentCoding", 11) }
    /// The decoded file is larger than ``DownloadOptions/maximumDecodedBytes``.
    public static var tooLarge: Self { Self("tooLarge", 12) }
    /// The rest is available from another URL only, such as a mirror, and nothing shows that it belongs to the bytes on
    /// disk. A checksum does.
    public static var mirrorMismatch: Self { Self("mirrorMismatch", 13) }
    /// The file changed on the server during each of several attempts.
    public static var changedTooOften: Self { Self("changedTooOften", 14) }
    /// A response from which no file can be made, such as a part that was not requested.
    public static var unusableResponse: Self { Self("unusableResponse", 15) }
}

extension DownloadError: CodedError {}

extension DownloadError: RequestFailure {}
