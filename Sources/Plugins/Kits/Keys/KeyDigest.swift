public import ErrandEssentials

/// A SHA-2 digest by the platform's library, updated piece by piece.
///
/// ```swift
/// var digest = try KeyDigest(.sha512)
/// try digest.update(data)
/// let bytes = try digest.finalize()
/// ```
public struct KeyDigest: ~Copyable, Sendable {
    /// A digest algorithm of the SHA-2 family.
    public enum Algorithm: Sendable, Hashable {
        /// The algorithm SHA-256, whose digests have 32 bytes.
        case sha256
        /// The algorithm SHA-384, whose digests have 48 bytes.
        case sha384
        /// The algorithm SHA-512, whose digests have 64 bytes.
        case sha512
    }

    private var platform: PlatformDigest

    /// Creates a digest of no bytes. Throws ``KeyError`` if the platform has no library.
    public init(_ algorithm: Algorithm) throws(KeyError) { platform = try PlatformDigest(algorithm) }

    /// Adds bytes to digest. Throws ``KeyError`` if the library fails.
    public mutating func update(_ data: Data) throws(KeyError) { try platform.update(data) }

    /// Returns the digest of all bytes that were added. Throws ``KeyError`` if the library fails.
    public consuming func finalize() throws(KeyError) -> Data { try platform.finalize() }

    /// Returns the digest of bytes in memory. Throws ``KeyError`` if the platform has no library.
    public static func digest(of data: Data, _ algorithm: Algorithm) throws(KeyError) -> Data {
        var digest = try KeyDigest(algorithm)
        try digest.update(data)
        return try digest.finalize()
    }
}
