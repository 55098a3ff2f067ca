public import Errand
import ErrandEssentials

/// An error of libcurl; the `underlying` one of an ``ErrandError`` that the transport throws.
public struct CurlError: DescribedError, Sendable, Hashable {
    /// libcurl's `CURLcode`, such as 6 for a name that could not be resolved.
    public var code: Int32
    /// libcurl's details of this case, or else its text for the code.
    public var message: String

    /// Makes an error, for a test or a mapping of errors.
    public init(code: Int32, message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the text, in one line.
    public var description: String { "CURLcode \(code): \(message)" }

    /// libcurl's code.
    public var errorCode: Int { Int(code) }
}
