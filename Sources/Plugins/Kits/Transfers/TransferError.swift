public import Errand
import ErrandEssentials

/// The failure of a download or an upload, beyond those that the network and the server report in an `ErrandError`.
///
/// ```swift
/// do { _ = try await agent.send(GetVideo(destination: folder)) } catch let error as TransferError where error.code == .noSpace {
///     show(error.localizedDescription)
/// }
/// ```
///
/// A failure loses nothing. Of a download, the previous file stays in place, and the received bytes are kept if they can be
/// resumed; the next start of an upload resumes from the bytes that the server has.
public struct TransferError: Error, Sendable {
    /// The kind of failure; codes may be added.
    public typealias Code = FailureCode<TransferError>

    /// The kind of failure.
    public let code: Code
    /// The expected and the actual result, for developers, in a sentence without a full stop. Files are named by their
    /// whole paths.
    public let message: String
    /// The request of the transfer; nil for what is asked of a directory.
    public var request: HTTPRequest?

    /// Creates an error without a request, which the filter of the transfer adds.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Whether the same transfer may succeed when it is sent again later, with nothing changed on this side.
    public var isRetryable: Bool {
        [.busy, .serverDigestMismatch, .fileFailed, .mirrorMismatch, .changedTooOften, .tooManyOpenFiles].contains(code)
    }

    /// One line: the code, the request with its secrets masked, and the message.
    public var description: String {
        [code.description, request?.description, message].compactMap(\.self).joined(separator: ": ")
    }
}

extension FailureCode<TransferError> {
    /// A method, a header field, a checksum, a body or a destination that makes no sense for a transfer.
    public static var invalidRequest: Self { Self("invalidRequest", 1) }
    /// Another download, perhaps in another process, writes to the same destination; or the same upload is running.
    public static var busy: Self { Self("busy", 2) }
    /// The directory of the destination does not exist.
    public static var noDirectory: Self { Self("noDirectory", 3) }
    /// A directory, a device or a symbolic link exists in place of the file.
    public static var notAFile: Self { Self("notAFile", 4) }
    /// The process may not write to the destination's directory, or the file system is read-only.
    public static var noPermission: Self { Self("noPermission", 5) }
    /// The file does not fit on the disk, into the user's quota, or into a file of this file system.
    public static var noSpace: Self { Self("noSpace", 6) }
    /// Any other failure of the file system; of an upload, each.
    public static var fileFailed: Self { Self("fileFailed", 7) }
    /// The process or the system has too many open files. A download waits until that has passed; listing the partial
    /// downloads of a directory throws it.
    public static var tooManyOpenFiles: Self { Self("tooManyOpenFiles", 8) }
    /// The whole file arrived, and its SHA-256 is not the request's checksum.
    public static var expectedChecksumMismatch: Self { Self("expectedChecksumMismatch", 9) }
    /// The bytes do not have the server's own digest (RFC 9530), also after they were fetched a second time.
    public static var serverDigestMismatch: Self { Self("serverDigestMismatch", 10) }
    /// The server sends the file only in a content coding that the transport cannot decode; the message names it.
    public static var unsupportedContentCoding: Self { Self("unsupportedContentCoding", 11) }
    /// The decoded file is larger than the options of a download allow; or the body of an upload is larger than the server
    /// takes (`Upload-Limit`, `Tus-Max-Size`), and nothing more was sent.
    public static var tooLarge: Self { Self("tooLarge", 12) }
    /// The rest is available from another URL only, such as a mirror, and nothing shows that it belongs to the bytes on
    /// disk. A checksum does.
    public static var mirrorMismatch: Self { Self("mirrorMismatch", 13) }
    /// In each of several attempts the file changed, or the server lost what it had of an upload.
    public static var changedTooOften: Self { Self("changedTooOften", 14) }
    /// A response from which no file can be made, such as a part that was not requested, or from which an upload cannot
    /// continue, such as one that leads from https to http.
    public static var unusableResponse: Self { Self("unusableResponse", 15) }
}

extension TransferError: CodedError {}

extension TransferError: RequestFailure {}

extension TransferError {
    /// The sentence for people.
    public var failureSentence: FailureSentence {
        switch code {
        case .busy: .alreadyRunning
        case .noSpace: .noSpace
        case .tooLarge: .tooLarge
        case .noDirectory, .notAFile, .noPermission, .fileFailed, .tooManyOpenFiles: .fileFailed
        case .expectedChecksumMismatch, .serverDigestMismatch, .unsupportedContentCoding, .mirrorMismatch,
            .changedTooOften,
            .unusableResponse:
            .unusableResponse
        default: .failed
        }
    }
}
