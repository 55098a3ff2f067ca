/// The limits of a store, which evicts the least recently used entries to keep them.
///
/// ```swift
/// .megabytes(50)
/// .megabytes(50).entries(1_000)
/// ```
public struct CacheLimit: Sendable, Hashable {
    /// The total size in bytes: bodies, heads and keys.
    public var bytes: Int64
    /// The number of entries; unlimited by default.
    public var entries: Int

    /// A limit of bytes and, optionally, of entries; negative numbers count as zero.
    public init(bytes: Int64, entries: Int = .max) {
        self.bytes = max(0, bytes)
        self.entries = max(0, entries)
    }

    /// A limit of bytes.
    public static func bytes(_ count: Int64) -> CacheLimit { CacheLimit(bytes: count) }
    /// A limit of megabytes, of 1,000,000 bytes each.
    public static func megabytes(_ count: Int) -> CacheLimit { CacheLimit(bytes: Int64(clamping: count) * 1_000_000) }
    /// The same limit with a maximum number of entries.
    public func entries(_ count: Int) -> CacheLimit { CacheLimit(bytes: bytes, entries: count) }

    /// The limit of a single entry: a quarter of all bytes.
    var bytesOfOne: Int64 { bytes / 4 }
}
