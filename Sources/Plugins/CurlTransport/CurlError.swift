public import Errand
import ErrandEssentials

/// What libcurl reported; the `underlying` of an ``ErrandError`` thrown by the transport.
public struct CurlError: DescribedError, Sendable, Hashable {
    /// libcurl's `CURLcode`, such as 6 for a name that could not be resolved.
    public var code: Int32
    /// libcurl's words for the code, and what it knew of this case.
    public var message: String

    /// Makes one, for a test or a mapping of errors.
    public init(code: Int32, message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the words, in one line.
    public var description: String { "CURLcode \(code): \(message)" }

    /// libcurl's code.
    public var errorCode: Int { Int(code) }
}
