public import Errand
import ErrandEssentials

/// A failure to compress a body.
public struct CompressionError: CodedError, Sendable {
    /// The type of the error's codes. Later versions may add codes, so write a `default` in a `switch`.
    public typealias Code = FailureCode<CompressionError>

    /// The kind of failure. Stable, and suitable for metrics.
    public var code: Code
    /// What failed, in one sentence.
    public var message: String

    init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }

    /// The code and the message.
    public var description: String { "\(code): \(message)" }
}

extension FailureCode<CompressionError> {
    /// The system has no library for the coding; see ``ContentCompression/isAvailable``. The request wasn't sent.
    public static var unavailable: Self { Self("unavailable", 1) }
    /// The library couldn't compress the body, for example because it ran out of memory.
    public static var compressionFailed: Self { Self("compressionFailed", 2) }
}
