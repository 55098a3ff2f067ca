import ErrandEssentials
public import ErrandHTTP

/// A failure to read or use a key. Descriptions never contain parts of a key.
public struct KeyError: CodedError, Sendable {
    /// The type of the error's codes. Write a `default` when you `switch` over it, because codes may be added.
    public typealias Code = FailureCode<KeyError>

    /// The kind of failure. Stable, so you can use it in a `switch` and in metrics.
    public let code: Code
    /// What failed, as a sentence.
    public let message: String

    /// Creates an error, for your own key types.
    public init(_ code: Code, _ message: String) { (self.code, self.message) = (code, message) }

    /// The code and the message.
    public var description: String { "\(code): \(message)" }

    static var libraryMissing: KeyError {
        KeyError(.libraryMissing, "this system has no libcrypto.so.3 and no libcrypto.so.1.1; install OpenSSL")
    }

    static func malformed(_ message: String) -> KeyError { KeyError(.malformedKey, message) }
}

extension FailureCode<KeyError> {
    /// OpenSSL's libcrypto isn't installed. Never occurs on Apple platforms.
    public static var libraryMissing: Self { Self("libraryMissing", 1) }
    /// The name of an algorithm is unknown.
    public static var unknownAlgorithm: Self { Self("unknownAlgorithm", 2) }
    /// The key's type doesn't fit the algorithm.
    public static var keyMismatch: Self { Self("keyMismatch", 3) }
    /// The text or the bytes aren't a key, or parts of the key contradict each other.
    public static var malformedKey: Self { Self("malformedKey", 4) }
    /// The key is encrypted, or has a type, curve, or size that isn't supported.
    public static var unsupportedKey: Self { Self("unsupportedKey", 5) }
    /// The platform's library couldn't sign, for example because memory ran out.
    public static var operationFailed: Self { Self("operationFailed", 6) }
}
