public import Errand
import ErrandEssentials

// Start here: `filters: [.bodyCompression(.gzip)]` compresses what requests send.
//
// CShim/  the calls of the codings' libraries

/// A failure to compress a body.
public struct CompressionError: CodedError, Sendable {
    /// The kind of failure; stable, of low cardinality, fit for metrics.
    public typealias Code = FailureCode<CompressionError>

    /// The kind of failure.
    public var code: Code
    /// A sentence that says what is missing or failed.
    public var message: String

    init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }

    /// The code and the message.
    public var description: String { "\(code): \(message)" }
}

extension FailureCode<CompressionError> {
    /// The library for the coding is not on this system; see ``ContentCompression/isAvailable``. Nothing was sent.
    public static var unavailable: Self { Self("unavailable", 1) }
    /// The library failed for lack of memory.
    public static var compressionFailed: Self { Self("compressionFailed", 2) }
}
