public import Errand
import ErrandEssentials

/// A file of cookies that could not be read or written.
public struct CookieFileError: Error, Sendable, Hashable {
    /// The path of the file.
    public let path: String
    /// The reason, in a sentence, such as that of the system.
    public let reason: String
    /// Whether reading failed, and not writing.
    public let isReading: Bool
}

extension CookieFileError: DescribedError {
    /// The path and the reason; no cookie.
    public var description: String {
        "the cookies in \(path) could not be \(isReading ? "read" : "written"): \(reason)"
    }

    /// 1 for reading, 2 for writing.
    public var errorCode: Int { isReading ? 1 : 2 }
}

extension CookieFileError {
    /// The sentence for people.
    public var failureSentence: FailureSentence { .fileFailed }
}
