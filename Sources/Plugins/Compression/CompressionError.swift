public import Errand
import ErrandEssentials

/// Why a body cannot be compressed.
public struct CompressionError: CodedError, Sendable {
    /// The kind of failure; stable, of low cardinality, fit for metrics.
    public struct Code: ErrorCode {
        /// The name of the code.
        public let description: String
        /// A number that never changes, from 1; the `code` of an `NSError`.
        public let number: Int

        init(_ description: String, _ number: Int) { (self.description, self.number) = (description, number) }
    }

    /// The kind of failure.
    public var code: Code
    /// What is missing or failed.
    public var message: String

    init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }

    /// The code and the message.
    public var description: String { "\(code): \(message)" }
}

extension CompressionError.Code {
    /// The library for the coding is not on this system; see ``ContentCompression/isAvailable``. Nothing was sent.
    public static let unavailable = Self("unavailable", 1)
    /// The library failed, for want of memory.
    public static let failed = Self("failed", 2)
}
