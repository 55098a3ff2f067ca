/// Why a download failed, beyond what the network and the server say in an `ErrandError`.
///
/// ```swift
/// do { _ = try await agent.send(GetVideo(destination: folder)) } catch let error as DownloadError where error.code == .noSpace {
///     print(error)
/// }
/// ```
///
/// Nothing is lost by it: the old file stands where it stood, and what came is kept where it can be continued.
public struct DownloadError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure; codes may be added.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        public let description: String
        init(_ description: String) { self.description = description }
    }

    public let code: Code
    /// What was expected and what came; files are named by their last path component only.
    public let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    /// Whether the same download may succeed when it is sent again later, with nothing changed here.
    public var isRetryable: Bool {
        [.busy, .digestMismatch, .file, .mirrorMismatch, .changedTooOften, .tooManyOpenFiles].contains(code)
    }

    public var description: String { "\(code): \(message)" }
}

extension DownloadError.Code {
    /// A method, a `Range` of the request's own, a checksum or a destination that makes no sense for a download.
    public static let invalidRequest = Self("invalidRequest")
    /// Another download, perhaps in another process, writes to the same destination.
    public static let busy = Self("busy")
    /// The directory of the destination is not there.
    public static let noDirectory = Self("noDirectory")
    /// A directory, a device or a link stands where the file should be.
    public static let notAFile = Self("notAFile")
    public static let noPermission = Self("noPermission")
    public static let noSpace = Self("noSpace")
    /// Any other failure of the file system.
    public static let file = Self("file")
    /// The process or the system has too many open files. A download waits for that to pass; listing what is left over
    /// does not.
    public static let tooManyOpenFiles = Self("tooManyOpenFiles")
    /// The whole file arrived, and it is not the one that the request's checksum asks for.
    public static let checksumMismatch = Self("checksumMismatch")
    /// The bytes are not those of the server's own digest (RFC 9530), also when they were fetched a second time.
    public static let digestMismatch = Self("digestMismatch")
    /// The server sends the file only in a content coding that the transport cannot decode; the message names it.
    public static let contentCoding = Self("contentCoding")
    /// The decoded file is larger than `maximumDecodedBytes`.
    public static let tooLarge = Self("tooLarge")
    /// The rest is available from another place only, such as a mirror, and nothing shows that it belongs to the bytes on
    /// disk. A checksum would.
    public static let mirrorMismatch = Self("mirrorMismatch")
    /// The file changed on the server during each of several attempts.
    public static let changedTooOften = Self("changedTooOften")
    /// A response of which no file can be made, such as a part that was not requested.
    public static let unusableAnswer = Self("unusableAnswer")
}
