import ErrandEssentials
public import ErrandHTTP

/// A failure to read or use a key. Descriptions never contain any part of a key.
public struct KeyError: CodedError, Sendable {
    /// The type of the error's codes. New codes may be added, so write a `default` in a `switch`.
    public typealias Code = FailureCode<KeyError>

    /// The kind of failure, to switch over. Stable, and suitable for metrics.
    public let code: Code
    /// What failed, in one sentence without any part of a key.
    public let message: String

    /// Creates an error, for your own types of keys.
    public init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }

    /// The code and the message.
    public var description: String { "\(code): \(message)" }

    static var libraryMissing: KeyError {
        KeyError(.libraryMissing, "this system has no libcrypto.so.3 and no libcrypto.so.1.1; install OpenSSL")
    }

    static func malformed(_ message: String) -> KeyError { KeyError(.malformedKey, message) }
}

extension FailureCode<KeyError> {
    /// OpenSSL's libcrypto isn't on this system. Never on Apple's platforms.
    public static var libraryMissing: Self { Self("libraryMissing", 1) }
    /// The name of an algorithm is unknown.
    public static var unknownAlgorithm: Self { Self("unknownAlgorithm", 2) }
    /// The key is of a type that can't be used with the algorithm.
    public static var keyMismatch: Self { Self("keyMismatch", 3) }
    /// The text or the bytes aren't a key, or its parts contradict each other.
    public static var malformedKey: Self { Self("malformedKey", 4) }
    /// The key is well-formed, but of a type, a curve or a size that isn't supported, or it's encrypted.
    public static var unsupportedKey: Self { Self("unsupportedKey", 5) }
    /// The platform's library couldn't sign, for example because memory ran out.
    public static var operationFailed: Self { Self("operationFailed", 6) }
}
