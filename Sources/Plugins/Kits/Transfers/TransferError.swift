public import Errand
import ErrandEssentials
import ErrandSupport

/// A failure of a download or an upload. Failures of the network and the server throw `ErrandError` instead.
///
/// ```swift
/// do {
///     _ = try await agent.send(GetVideo(destination: folder))
/// } catch let error as TransferError where error.code == .noSpace {
///     show(error.localizedDescription)
/// }
/// ```
///
/// A failed download doesn't change the file at its destination. If the download can be resumed, the received bytes are
/// kept. An upload continues after the bytes that the server already has.
public struct TransferError: Error, Sendable {
    /// The type of the error's codes. Write a `default` when you `switch` over it, because codes may be added.
    public typealias Code = FailureCode<TransferError>

    /// The kind of failure. Stable, so you can use it in a `switch` and in metrics.
    public let code: Code
    /// A sentence for developers without a final period: the expected result and the actual result. Contains full file
    /// paths.
    public let message: String
    /// The transfer's request, or `nil` for an operation on a directory, such as listing partial downloads.
    public var request: HTTPRequest?

    /// Creates an error. The transfer's filter adds the request.
    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Creates an error for a failed system call on a file. The code follows from the number, such as
    /// ``FailureCode/noSpace`` from `ENOSPC`.
    ///
    /// ```swift
    /// throw TransferError(systemError: ENOSPC, "/downloads/film.mp4 cannot be written")
    /// ```
    ///
    /// - Parameters:
    ///   - number: The value of `errno`.
    ///   - message: The sentence for developers, without a final period.
    public init(systemError number: Int32, _ message: String) {
        let code: Code =
            switch number {
            case ENOSPC, EDQUOT, EFBIG: .noSpace
            case EACCES, EPERM, EROFS: .noPermission
            case ENOENT, ENOTDIR: .noDirectory
            case EISDIR, ELOOP, ENXIO, EMLINK: .notAFile
            case EMFILE, ENFILE: .tooManyOpenFiles
            default: .fileFailed
            }
        self.init(code, message)
    }

    /// Whether the same transfer may succeed later without changes on this device.
    public var isRetryable: Bool {
        [.busy, .serverDigestMismatch, .fileFailed, .mirrorMismatch, .changedTooOften, .tooManyOpenFiles].contains(code)
    }

    /// The code, the request with its secrets masked, and the message.
    public var description: String {
        [code.description, request?.description, message].compactMap(\.self).joined(separator: ": ")
    }
}

extension FailureCode<TransferError> {
    /// The method, a header field, the checksum, the body, or the destination isn't valid for a transfer.
    public static var invalidRequest: Self { Self("invalidRequest", 1) }
    /// Another download in any process has the same destination, or the same upload is running.
    public static var busy: Self { Self("busy", 2) }
    /// The directory of the destination, or of an upload's records, doesn't exist.
    public static var noDirectory: Self { Self("noDirectory", 3) }
    /// The path leads to a directory, a device, or a symbolic link instead of a file. For an upload, also if the body's
    /// file no longer exists.
    public static var notAFile: Self { Self("notAFile", 4) }
    /// The process may not write to the directory of the destination or of an upload's records, or the file system is
    /// read-only. For an upload, also if the process may not read the body's file.
    public static var noPermission: Self { Self("noPermission", 5) }
    /// The file exceeds the free space, the user's quota, or the file system's maximum file size.
    public static var noSpace: Self { Self("noSpace", 6) }
    /// Another file system failure.
    public static var fileFailed: Self { Self("fileFailed", 7) }
    /// The process or the system has too many open files. Uploads throw this error, and listing partial downloads.
    /// Downloads wait instead.
    public static var tooManyOpenFiles: Self { Self("tooManyOpenFiles", 8) }
    /// The complete file's SHA-256 doesn't match the request's checksum.
    public static var expectedChecksumMismatch: Self { Self("expectedChecksumMismatch", 9) }
    /// The bytes don't match the server's digest (RFC 9530), even after a second attempt.
    public static var serverDigestMismatch: Self { Self("serverDigestMismatch", 10) }
    /// The server sends the file only in a content coding that the transport can't decode. The message names the
    /// coding.
    public static var unsupportedContentCoding: Self { Self("unsupportedContentCoding", 11) }
    /// The decoded file exceeds the limit in the download's options, or the upload's body exceeds the server's limit
    /// (`Upload-Limit`, `Tus-Max-Size`).
    public static var tooLarge: Self { Self("tooLarge", 12) }
    /// The remaining bytes are available only at another URL, such as a mirror, and they may not belong to the same
    /// file as the bytes on disk. Set a checksum to allow such downloads.
    public static var mirrorMismatch: Self { Self("mirrorMismatch", 13) }
    /// The file changed, or the server lost an upload's bytes, in several consecutive attempts.
    public static var changedTooOften: Self { Self("changedTooOften", 14) }
    /// The response can't be used, for example because it contains a part that wasn't requested, or redirects an upload
    /// from https to http.
    public static var unusableResponse: Self { Self("unusableResponse", 15) }
}

extension TransferError: CodedError {}

extension TransferError: RequestFailure {}

extension TransferError {
    /// The sentence in `localizedDescription`, for users.
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
