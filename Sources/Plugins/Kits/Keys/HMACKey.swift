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

    /// The only algorithm of such a key, HMAC with SHA-256.
    public var algorithms: [KeyAlgorithm] { [.hmacSHA256] }

    /// Returns the authentication code of a message: 32 bytes. Throws ``KeyError`` for another algorithm.
    public func signature(of message: Data, by algorithm: KeyAlgorithm = .hmacSHA256) throws(KeyError) -> Data {
        try check(algorithm)
        return Data(try PlatformCode.hmacSHA256(of: message, key: bytes))
    }

    /// Returns whether an authentication code is correct for a message, in a time that doesn't depend on the code's
    /// bytes.
    public func isValid(
        _ signature: Data, of message: Data, by algorithm: KeyAlgorithm = .hmacSHA256
    ) throws(KeyError) -> Bool {
        try check(algorithm)
        return try PlatformCode.isHMACSHA256(Array(signature), of: message, key: bytes)
    }

    private func check(_ algorithm: KeyAlgorithm) throws(KeyError) {
        guard algorithm == .hmacSHA256 else {
            throw KeyError(.keyMismatch, "a shared key works only with HMAC, not with \(algorithm)")
        }
    }
}

extension HMACKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// A mask in place of the key.
    public var description: String { "HMAC key •••" }
    /// The same text as `description`, for debuggers.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
