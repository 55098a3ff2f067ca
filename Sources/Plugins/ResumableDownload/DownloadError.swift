/// Why a download failed, beyond what the network and the server say in an `ErrandError`.
///
/// ```swift
/// catch let error as DownloadError where error.code == .noSpace { … }
/// ```
///
/// Nothing is lost by it: the old file stands where it stood, and what came is kept where it can be continued.
public struct DownloadError: Error, Sendable, CustomStringConvertible {
    /// The kind of failure; more may come.
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

    /// Whether the same download may succeed when it is tried again later, without anybody having changed anything here.
    public var isRetryable: Bool { [.busy, .digestMismatch, .file].contains(code) }

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
    /// The whole file came, and it is not the one that the request's checksum asks for.
    public static let checksumMismatch = Self("checksumMismatch")
    /// The bytes are not those that the server's own digest speaks of (RFC 9530).
    public static let digestMismatch = Self("digestMismatch")
    /// The bytes are in a content coding that was not asked for, such as gzip.
    public static let contentCoding = Self("contentCoding")
    /// An answer of which no file can be made, such as a part that nobody asked for.
    public static let unusableAnswer = Self("unusableAnswer")
}
