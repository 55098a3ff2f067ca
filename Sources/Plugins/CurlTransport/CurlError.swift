public import Errand
import ErrandEssentials

/// An error from libcurl. It's the `underlying` error of an ``ErrandError`` that the transport throws.
public struct CurlError: DescribedError, Sendable, Hashable {
    /// The `CURLcode`, such as 6 for a name that couldn't be resolved.
    public var code: Int32
    /// libcurl's details about the failure, or else libcurl's text for the code.
    public var message: String

    /// Creates an error, for example in tests.
    public init(code: Int32, message: String) {
        self.code = code
        self.message = message
    }

    /// The code and the text on one line.
    public var description: String { "CURLcode \(code): \(message)" }

    /// The `CURLcode`.
    public var errorCode: Int { Int(code) }
}
