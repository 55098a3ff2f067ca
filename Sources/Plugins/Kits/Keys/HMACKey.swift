public import ErrandEssentials

/// A key that signer and verifier share.
///
/// ```swift
/// let key = HMACKey(secret.utf8)
/// let code = try key.signature(of: data)
/// ```
public struct HMACKey: KeySigner, KeyVerifier {
    private let bytes: [UInt8]

    /// Creates a key from its bytes. Any length works; 32 random bytes are enough.
    public init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// HMAC with SHA-256.
    public var algorithms: [KeyAlgorithm] { [.hmacSHA256] }

    /// Returns the code of a message: 32 bytes.
    public func signature(of message: Data, by algorithm: KeyAlgorithm = .hmacSHA256) throws(KeyError) -> Data {
        try check(algorithm)
        return Data(try PlatformCode.hmacSHA256(of: message, key: bytes))
    }

    /// Returns whether the code is correct, in a time that doesn't depend on the code's bytes.
    public func isValid(
        _ signature: Data, of message: Data, by algorithm: KeyAlgorithm = .hmacSHA256
    ) throws(KeyError) -> Bool {
        try check(algorithm)
        return try PlatformCode.isHMACSHA256(Array(signature), of: message, key: bytes)
    }

    private func check(_ algorithm: KeyAlgorithm) throws(KeyError) {
        guard algorithm == .hmacSHA256 else {
            throw KeyError(.keyMismatch, "a shared key can't be used with \(algorithm)")
        }
    }
}

extension HMACKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// Masked.
    public var description: String { "HMAC key •••" }
    /// Same as `description`.
    public var debugDescription: String { description }
    /// Empty, to hide the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
