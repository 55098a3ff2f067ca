public import ErrandEssentials

/// A SHA-2 digest of bytes that you add piece by piece. The platform's cryptography library computes it.
///
/// ```swift
/// var digest = try KeyDigest(.sha512)
/// try digest.update(data)
/// let bytes = try digest.finalize()
/// ```
public struct KeyDigest: ~Copyable, Sendable {
    /// A SHA-2 algorithm.
    public enum Algorithm: Sendable, Hashable {
        /// SHA-256, with digests of 32 bytes.
        case sha256
        /// SHA-384, with digests of 48 bytes.
        case sha384
        /// SHA-512, with digests of 64 bytes.
        case sha512
    }

    private var platform: PlatformDigest

    /// Creates an empty digest. Throws ``KeyError`` if the platform's library is missing.
    public init(_ algorithm: Algorithm) throws(KeyError) { platform = try PlatformDigest(algorithm) }

    /// Adds bytes to the digest's input. Throws ``KeyError`` if the library fails.
    public mutating func update(_ data: Data) throws(KeyError) { try platform.update(data) }

    /// Returns the digest of all added bytes. Throws ``KeyError`` if the library fails.
    public consuming func finalize() throws(KeyError) -> Data { try platform.finalize() }

    /// Returns the digest of data. Throws ``KeyError`` if the platform's library is missing.
    public static func digest(of data: Data, _ algorithm: Algorithm) throws(KeyError) -> Data {
        var digest = try KeyDigest(algorithm)
        try digest.update(data)
        return try digest.finalize()
    }
}
