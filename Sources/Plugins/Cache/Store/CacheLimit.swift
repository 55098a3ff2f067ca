/// The limits of a store, which evicts the least recently used entries to stay within them.
///
/// ```swift
/// .megabytes(50)
/// .megabytes(50).entries(1_000)
/// ```
public struct CacheLimit: Sendable, Hashable {
    /// The maximum total size in bytes: bodies, heads and keys.
    public var bytes: Int64
    /// The maximum number of entries. Defaults to no limit.
    public var entries: Int

    /// Creates a limit. Negative numbers count as 0.
    public init(bytes: Int64, entries: Int = .max) {
        self.bytes = max(0, bytes)
        self.entries = max(0, entries)
    }

    /// Limits the number of bytes.
    public static func bytes(_ count: Int64) -> CacheLimit { CacheLimit(bytes: count) }
    /// Limits the number of megabytes of 1,000,000 bytes.
    public static func megabytes(_ count: Int) -> CacheLimit { CacheLimit(bytes: Int64(clamping: count) * 1_000_000) }
    /// Returns a copy that also limits the number of entries.
    public func entries(_ count: Int) -> CacheLimit { CacheLimit(bytes: bytes, entries: count) }

    /// The maximum size of a single entry, a quarter of the limit.
    var bytesOfOne: Int64 { bytes / 4 }
}
