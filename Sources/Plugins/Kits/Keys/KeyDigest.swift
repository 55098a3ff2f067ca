public import ErrandEssentials

/// A SHA-2 digest by the platform's library, updated piece by piece.
///
/// ```swift
/// var digest = try KeyDigest(.sha512)
/// try digest.update(data)
/// let bytes = try digest.finalize()
/// ```
public struct KeyDigest: ~Copyable, Sendable {
    /// The digest's algorithm.
    public enum Algorithm: Sendable, Hashable {
        /// SHA-256.
        case sha256
        /// SHA-384.
        case sha384
        /// SHA-512.
        case sha512
    }

    private var platform: PlatformDigest

    /// Creates a digest of no bytes. Throws ``KeyError`` if the platform has no library.
    public init(_ algorithm: Algorithm) throws(KeyError) { platform = try PlatformDigest(algorithm) }

    /// Adds bytes.
    public mutating func update(_ data: Data) throws(KeyError) { try platform.update(data) }

    /// Returns the digest of all bytes.
    public consuming func finalize() throws(KeyError) -> Data { try platform.finalize() }

    /// Returns the digest of bytes in memory.
    public static func digest(of data: Data, _ algorithm: Algorithm) throws(KeyError) -> Data {
        var digest = try KeyDigest(algorithm)
        try digest.update(data)
        return try digest.finalize()
    }
}
