public import ErrandEssentials

/// A secret key for HMAC with SHA-256, which the signer and the verifier share.
///
/// ```swift
/// let key = HMACKey(secret.utf8)
/// let code = try key.signature(of: data)
/// ```
public struct HMACKey: KeySigner, KeyVerifier {
    private let bytes: [UInt8]

    /// Creates a key from bytes of any length. Use at least 32 random bytes.
    public init(_ bytes: some Sequence<UInt8>) { self.bytes = Array(bytes) }

    /// The algorithms of the key: only HMAC with SHA-256.
    public var algorithms: [KeyAlgorithm] { [.hmacSHA256] }

    /// Returns a message's authentication code (MAC), 32 bytes long. Throws ``KeyError`` for another algorithm.
    public func signature(of message: Data, by algorithm: KeyAlgorithm = .hmacSHA256) throws(KeyError) -> Data {
        try check(algorithm)
        return Data(try PlatformCode.hmacSHA256(of: message, key: bytes))
    }

    /// Returns whether an authentication code is correct. Compares in constant time, so attackers can't guess the code
    /// byte by byte. Throws ``KeyError`` for another algorithm.
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
    /// A text that hides the key.
    public var description: String { "HMAC key •••" }
    /// The same as `description`.
    public var debugDescription: String { description }
    /// A mirror without children, so a dump doesn't reveal the key.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
