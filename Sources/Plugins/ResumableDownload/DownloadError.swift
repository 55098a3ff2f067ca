public import Errand
import ErrandEssentials

/// Why a download failed, beyond what the network and the server report in an `ErrandError`.
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
    public struct Code: ErrorCode {
        /// The name of the code.
        public let description: String
        /// A number that never changes, from 1; the `code` of an `NSError`.
        public let number: Int

        init(_ description: String, _ number: Int) {
            self.description = description
            self.number = number
        }
    }

    /// The kind of failure.
    public let code: Code
    /// What was expected and what happened, in a sentence for people, without a full stop. Files are named by their whole
    /// paths.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Whether the same download may succeed when it is sent again later, with nothing changed on this side.
    public var isRetryable: Bool {
        [.busy, .serverDigestMismatch, .file, .mirrorMismatch, .changedTooOften, .tooManyOpenFiles].contains(code)
    }

    /// The message; `localizedDescription` is the same.
    public var description: String { message }
}

extension DownloadError.Code {
    /// A method, a `Range` of the request's own, a checksum or a destination that makes no sense for a download.
    public static let invalidRequest = Self("invalidRequest", 1)
    /// Another download, perhaps in another process, writes to the same destination.
    public static let busy = Self("busy", 2)
    /// The directory of the destination does not exist.
    public static let noDirectory = Self("noDirectory", 3)
    /// A directory, a device or a symbolic link stands in the place of the file.
    public static let notAFile = Self("notAFile", 4)
    /// The process may not write to the destination's directory, or the file system is read-only.
    public static let noPermission = Self("noPermission", 5)
    /// The file does not fit on the disk, into the user's quota, or into a file of this file system.
    public static let noSpace = Self("noSpace", 6)
    /// Any other failure of the file system.
    public static let file = Self("file", 7)
    /// The process or the system has too many open files. A download waits until that has passed;
    /// ``ResumableDownloads/partialDownloads(in:)`` throws it.
    public static let tooManyOpenFiles = Self("tooManyOpenFiles", 8)
    /// The whole file arrived, and its SHA-256 is not the request's ``DownloadRequest/checksum``.
    public static let expectedChecksumMismatch = Self("expectedChecksumMismatch", 9)
    /// The bytes do not have the server's own digest (RFC 9530), also after they were fetched a second time.
    public static let serverDigestMismatch = Self("serverDigestMismatch", 10)
    /// The server sends the file only in a content coding that the transport cannot decode; the message names it.
    public static let contentCoding = Self("contentCoding", 11)
    /// The decoded file is larger than ``DownloadOptions/maximumDecodedBytes``.
    public static let tooLarge = Self("tooLarge", 12)
    /// The rest is available from another place only, such as a mirror, and nothing shows that it belongs to the bytes on
    /// disk. A checksum does.
    public static let mirrorMismatch = Self("mirrorMismatch", 13)
    /// The file changed on the server during each of several attempts.
    public static let changedTooOften = Self("changedTooOften", 14)
    /// A response from which no file can be made, such as a part that was not requested.
    public static let unusableResponse = Self("unusableResponse", 15)
}

extension DownloadError: CodedError {}

extension DownloadError: RequestFailure {}
